// Invariants of wallets, payments and invoices (cases, I-12 to I-17, I-26).
import { type Invariant, unguarded } from './invariant.ts'

export const money: Invariant[] = [
  {
    id: 'I-12',
    says: 'paid by charge is one captured charge of that amount, and received money has a place',
    sql: `select invoices.id as bad
        from public.invoices
        where state = 'paid' and paid_with = 'charge' and (
          select count(*) from public.payments
          where invoice_id = invoices.id and payments.state = 'captured' and amount = total
            and payments.currency = invoices.currency) <> 1
      union all
      select invoices.id
        from public.invoices
        where state not in ('paid', 'partially_refunded', 'refunded')
          and exists (
            select from public.payments
            where invoice_id = invoices.id and payments.state = 'captured')
      union all
      select invoice_id
        from public.payments
        where state in ('starting', 'open')
        group by invoice_id having count(*) > 1`,
    plant: `${unguarded('public.invoices')}
      update public.invoices set state = 'paid', paid_with = 'charge', paid_at = now()
      where id = (select id from public.invoices where state = 'open' limit 1)`,
  },
  {
    id: 'I-13',
    says: 'each transfer sums to zero and each balance is the sum of its entries',
    sql: `select transfer_id as bad
        from public.wallet_entries
        group by transfer_id having sum(amount) <> 0
      union all
      select wallets.id
        from public.wallets
        left join (
          select wallet_id, sum(amount) as total from public.wallet_entries group by wallet_id
        ) as entries on wallet_id = wallets.id
        -- A system account stores no balance; it is the sum of its entries.
        where part <> 'system' and balance <> coalesce(total, 0)`,
    plant: `${unguarded('public.wallets')}
      insert into public.wallets (identity_id, part, balance)
      select id, 'held', 1 from public.identities
      where id not in (select identity_id from public.wallets where part = 'held') limit 1`,
  },
  {
    id: 'I-14',
    says: 'one source, one transfer',
    sql: `select source_kind as bad, source_id
      from public.wallet_transfers
      where source_kind in ('charge', 'purchase')
      group by 1, 2 having count(*) > 1`,
    plant: `alter table public.wallet_transfers
        drop constraint wallet_transfers_one_per_source_key;
      insert into public.wallet_transfers (kind, source_kind, source_id)
      select 'topup', 'charge', md5('planted')::uuid from generate_series(1, 2)`,
  },
  {
    id: 'I-15',
    says: 'no wallet is below zero, and no payment is given back more than once over',
    sql: `select id as bad from public.wallets where part <> 'system' and balance < 0
      union all
      -- The entries of a refund count towards the payment that it refunds.
      select coalesce(refunds.payment_id, source_id)
        from public.wallet_entries
        join public.wallet_transfers on wallet_transfers.id = transfer_id
        join public.wallets on wallets.id = wallet_id
        left join public.refunds on refunds.id = source_id and destination = 'source'
        where part <> 'system' and source_kind in ('charge', 'refund')
        group by 1 having sum(wallet_entries.amount) < 0`,
    plant: `${unguarded('public.wallets', 'wallets_never_below_zero')}
      insert into public.wallets (identity_id, part, balance)
      select id, 'held', -1 from public.identities
      where id not in (select identity_id from public.wallets where part = 'held') limit 1`,
  },
  {
    id: 'WAL-05',
    says: 'nothing is held but for a refund that is under way',
    sql: `select w.identity_id as bad
      from public.wallets w
      left join (
        select i.identity_id, sum(r.amount) as requested
        from public.refunds r
        join public.invoices i on i.id = r.invoice_id
        left join public.payments p on p.id = r.payment_id
        where r.state = 'requested' and r.destination = 'source'
          and (i.credited or p.state = 'surplus')
          and r.id not in (select id from public.wallet_payouts)
        group by i.identity_id
      ) as open on open.identity_id = w.identity_id
      where w.part = 'held' and w.balance <> coalesce(open.requested, 0)`,
    plant: `select private.move_money(
        private.system_account('adjustments'), private.wallet_of(identities.id, 'held'), 1,
        'hold', 'hold', gen_random_uuid())
      from public.identities limit 1`,
  },
  {
    id: 'WAL-07',
    says:
      'what is owed to people who are gone is what its rows say, and each row with a refund is it',
    sql: `select 'sum' as bad, owed.total::text, entries.total::text
        from (
          select coalesce(sum(amount), 0) as total from public.wallet_payouts
          where state in ('at_provider', 'open')
        ) as owed
        cross join (
          select coalesce(sum(amount), 0) as total from public.wallet_entries
          where wallet_id = private.system_account('payouts')
        ) as entries
        where owed.total <> entries.total
      union all
      select wallet_payouts.id::text, wallet_payouts.state, refunds.state
        from public.wallet_payouts
        left join public.refunds on refunds.id = wallet_payouts.id
        where (wallet_payouts.state = 'at_provider') <> (refunds.state is not distinct from 'requested')
          -- After our refund was rejected, all or part of it may have been made in the provider's portal, so
          -- it may exceed the payout. If it is settled after a payout by hand, an alarm is raised.
          or refunds.state = 'settled' and wallet_payouts.state in ('at_provider', 'open')
          or refunds.amount < wallet_payouts.amount
          or refunds.state <> 'rejected' and refunds.amount <> wallet_payouts.amount
      union all
      select account_id::text, 'refunded by whom?', sum(amount)::text
        from public.wallet_payouts
        where state = 'refunded' and not exists (
          select from public.refunds where refunds.id = wallet_payouts.id and refunds.state = 'settled')
        group by account_id
        having sum(amount) > (
          select coalesce(sum(refunds.amount), 0)
          from public.refunds
          join public.invoices on invoices.id = refunds.invoice_id
          join public.identities on identities.id = invoices.identity_id
          where identities.account_id = wallet_payouts.account_id and refunds.state = 'settled')`,
    plant: `insert into public.wallet_payouts (account_id, amount, state)
      select id, 1, 'open' from public.accounts limit 1`,
  },
  {
    id: 'I-17',
    says: 'webhook events are stored once and finished',
    sql: `select provider as bad, event_key
        from public.payment_events
        group by 1, 2 having count(*) > 1
      union all
      select provider, event_key
        from public.payment_events
        where processed_at is null and received_at < now() - interval '5 minutes'`,
    plant: `insert into public.payment_events (provider, event_key, kind, received_at)
      values ('sandbox', 'planted', 'other', now() - interval '6 minutes')`,
  },
  {
    id: 'I-26',
    says: 'invoices change state only in allowed ways, and their numbers have no gaps',
    sql: `select invoice_id as bad, from_state, to_state
        from public.invoice_events
        where from_state is not null
          and (from_state, to_state) not in (
            select steps.from_state, steps.to_state from private.invoice_steps() as steps)
      union all
      select null, year::text, count(*)::text
        from public.invoices
        group by year having count(*) <> max(serial) or min(serial) <> 1
      union all
      select null, year::text, count(*)::text
        from public.refund_documents
        group by year having count(*) <> max(serial) or min(serial) <> 1`,
    plant: `insert into public.invoice_events (invoice_id, from_state, to_state)
      select id, 'paid', 'open' from public.invoices limit 1`,
  },
]
