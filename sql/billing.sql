-- What paying gives, and how plans are subscribed to and cancelled.

create table public.featured_credits (
  identity_id uuid primary key references public.identities (id),
  credits integer not null constraint featured_credits_never_below_zero check (credits >= 0)
);
comment on table public.featured_credits is 'Featured listings that an identity has paid for.';
comment on column public.featured_credits.identity_id is 'Who.';
comment on column public.featured_credits.credits is 'How many are left.';
alter table public.featured_credits enable row level security;
revoke all on public.featured_credits from anon, authenticated;
grant select on public.featured_credits to authenticated;
create policy "identities see their own credits" on public.featured_credits
  for select to authenticated
  using (identity_id = (select private.identity_id()));

create table private.alarms (
  id bigint generated always as identity primary key,
  kind text not null,
  subject_id text not null,
  facts jsonb not null default '{}',
  raised_at timestamptz not null default now(),
  settled_at timestamptz,
  settled_note text
);
comment on table private.alarms is
  'What an admin has to look at: money that does not fit. One row for each until it is settled.';
comment on column private.alarms.id is 'Order.';
comment on column private.alarms.kind is 'What happened, as wallet_differs or payment_mismatch.';
comment on column private.alarms.subject_id is 'The wallet, payment, invoice or event.';
comment on column private.alarms.facts is 'What was seen.';
comment on column private.alarms.raised_at is 'When.';
comment on column private.alarms.settled_at is 'When an admin was done with it.';
comment on column private.alarms.settled_note is 'What the admin did.';
create unique index alarms_one_unsettled_key on private.alarms (kind, subject_id)
  where settled_at is null;
alter table private.alarms enable row level security;
create policy "nobody but functions of their owner" on private.alarms using (false);

create function private.raise_alarm(kind text, subject_id text, facts jsonb default '{}')
  returns void
  language plpgsql
  security definer -- writes a closed table, for whoever came across it
  set search_path = ''
as $$
begin
  insert into private.alarms (kind, subject_id, facts)
  values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.facts)
  on conflict do nothing;
  if found then
    perform private.notify(admins.account_id, null, 'system', null,
      jsonb_build_object(
        'titleAr', 'تنبيه مالي يحتاج إلى مراجعة', 'titleEn', 'A payment needs a look',
        'bodyAr', raise_alarm.kind, 'bodyEn', raise_alarm.kind))
    from public.admins;
  end if;
end
$$;
comment on function private.raise_alarm is
  'Tells the admins, once for each thing until it is settled.';

-- Effects ----------------------------------------------------------------------------------------

create function private.hold_plan(identity_id uuid) returns void
  language sql
  set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('plan ' || identity_id, 0))
$$;
comment on function private.hold_plan is
  'Plans of an identity change one after another. Taken after the lock on an invoice or wallet.';

create function private.add_credits(identity_id uuid, credits integer) returns void
  language sql
  security definer -- writes for functions that have decided it
  set search_path = ''
as $$
  insert into public.featured_credits (identity_id, credits)
  select add_credits.identity_id, add_credits.credits where add_credits.credits > 0
  on conflict on constraint featured_credits_pkey
    do update set credits = featured_credits.credits + excluded.credits
$$;
comment on function private.add_credits is 'More featured listings.';

create function private.start_plan(identity_id uuid, plan_id uuid, pay_with text) returns void
  language plpgsql
  security definer -- writes subscriptions for functions that have decided it
  set search_path = ''
as $$
declare
  plan public.plans;
  before public.subscriptions;
begin
  perform private.hold_plan(identity_id);
  select * into plan from public.plans where plans.id = start_plan.plan_id;
  select * into before from public.subscriptions
  where subscriptions.identity_id = start_plan.identity_id and subscriptions.status = 'active'
  for update;

  if before.plan_id = plan.id and before.ends_at > now() then
    update public.subscriptions
    set ends_at = subscriptions.ends_at + make_interval(days => plan.interval_days),
        pay_with = start_plan.pay_with, renews = true, reminded_at = null
    where subscriptions.id = before.id;
  else
    update public.subscriptions
    set ended_at = now(),
        status = case when before.ends_at > now() then 'replaced' else 'lapsed' end
    where subscriptions.id = before.id;
    insert into public.subscriptions (identity_id, plan_id, ends_at, pay_with)
    values (start_plan.identity_id, plan.id, now() + make_interval(days => plan.interval_days),
      start_plan.pay_with);
    perform private.pause_over_quota(start_plan.identity_id);
  end if;
  perform private.add_credits(start_plan.identity_id, plan.featured_credits);
end
$$;
comment on function private.start_plan is
  'One more interval of the plan that an identity has, or another plan from now on.';

create function private.end_plan(identity_id uuid, plan_id uuid, status text) returns boolean
  language plpgsql
  security definer -- writes subscriptions for functions that have decided it
  set search_path = ''
as $$
begin
  perform private.hold_plan(identity_id);
  update public.subscriptions set status = end_plan.status, ended_at = now()
  where subscriptions.identity_id = end_plan.identity_id
    and subscriptions.plan_id = end_plan.plan_id
    and subscriptions.status = 'active'
    and (end_plan.status <> 'lapsed' or subscriptions.ends_at <= now());
  if not found then
    return false;
  end if;
  perform private.pause_over_quota(end_plan.identity_id);
  return true;
end
$$;
comment on function private.end_plan is
  'A plan holds no longer, and what is active over the quota of now is paused, newest first.';

create function private.can_give(invoice public.invoices) returns boolean
  language sql
  stable
  security definer -- looks at everybody's plans, for functions that settle
  set search_path = ''
as $$
  select invoice.state <> 'void'
    and exists (
      select from public.identities
      where identities.id = invoice.identity_id and identities.status <> 'closed'
    )
    and not exists (
      select from public.invoice_lines
      join public.plans on plans.id = invoice_lines.plan_id
      where invoice_lines.invoice_id = invoice.id
        and not plans.on_sale
        and (private.plan_of(invoice.identity_id)).id <> plans.id
    )
$$;
comment on function private.can_give is
  'Whether what an invoice is for can still be given: it is not void, its plan not withdrawn.';

create function private.give_effects(invoice public.invoices, pay_with text) returns void
  language plpgsql
  security definer -- writes for functions that have settled an invoice
  set search_path = ''
as $$
declare
  line public.invoice_lines;
begin
  for line in
    select * from public.invoice_lines
    where invoice_lines.invoice_id = invoice.id order by invoice_lines.position
  loop
    case line.kind
      when 'plan' then perform private.start_plan(invoice.identity_id, line.plan_id, pay_with);
      when 'feature' then perform private.add_credits(invoice.identity_id, line.quantity);
      else null; -- a top-up is the money itself
    end case;
  end loop;
end
$$;
comment on function private.give_effects is 'Gives what the lines of a paid invoice say.';

create function private.mark_paid(invoice public.invoices, paid_with text, credited boolean)
  returns void
  language plpgsql
  security definer -- writes for functions that have moved the money
  set search_path = ''
as $$
begin
  update public.invoices
  set state = 'paid', paid_at = now(), paid_with = mark_paid.paid_with,
      credited = mark_paid.credited
  where invoices.id = invoice.id;
  perform private.make_receipt(invoice.id);
  perform private.notify(invoice.account_id, invoice.identity_id, 'invoice_paid', invoice.id,
    jsonb_build_object('number', invoice.number, 'amount', invoice.total));
end
$$;
comment on function private.mark_paid is 'A paid invoice: state, receipt, word to its owner.';

create function private.pay_from_wallet(invoice_id uuid) returns void
  language plpgsql
  security definer -- spends the wallet of the invoice's own identity
  set search_path = ''
as $$
declare
  invoice public.invoices;
begin
  select * into invoice from public.invoices
  where invoices.id = pay_from_wallet.invoice_id for update;
  if invoice.state not in ('open', 'failed') then
    perform private.refuse(409, 'status_transition_invalid');
  end if;
  perform private.move_money(
    private.wallet_of(invoice.identity_id), private.house('sales'), invoice.total,
    'purchase', 'purchase', invoice.id, invoice.id);
  perform private.mark_paid(invoice, 'wallet', false);
  perform private.give_effects(invoice, 'wallet');
end
$$;
comment on function private.pay_from_wallet is
  'Pays an invoice from its identity''s wallet. 402 wallet_insufficient.';

revoke execute on all functions in schema private from public;
