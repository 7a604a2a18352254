create function private.get_wallet() returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
begin
  return (
    select json_build_object(
      'available', coalesce(sum(wallets.balance) filter (where wallets.part = 'available'), 0.000),
      'held', coalesce(sum(wallets.balance) filter (where wallets.part = 'held'), 0.000),
      'currency', 'KWD')
    from public.wallets
    where wallets.identity_id = owner_id
  );
end
$$;
comment on function private.get_wallet is
  'Api: The money that the acting identity may spend, and the money held while it is being '
  'refunded to its source.';

create function private.list_wallet_transactions(
  page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  query text := 'list_wallet_transactions ' || owner_id;
  key jsonb := private.cursor_key(query, page_cursor);
  before_id bigint := coalesce((key ->> 0)::bigint, 9223372036854775807);
begin
  return query
  with page as materialized (
    select
      wallet_entries.id, wallet_entries.transfer_id, wallet_entries.amount,
      wallet_entries.balance_after, wallet_entries.created_at, wallets.part,
      row_number() over (order by wallet_entries.id desc) as row_number
    from public.wallet_entries
    join public.wallets on wallets.id = wallet_entries.wallet_id
    where wallets.identity_id = owner_id and wallet_entries.id < before_id
    order by wallet_entries.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(json_build_object(
      'id', page.id,
      'transferId', page.transfer_id,
      'kind', wallet_transfers.kind,
      'part', page.part,
      'amount', page.amount,
      'balanceAfter', page.balance_after,
      'currency', 'KWD',
      'invoiceId', wallet_transfers.invoice_id,
      'createdAt', page.created_at
    ) order by page.row_number) filter (where page.row_number <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.id) order by page.row_number)
        filter (where page.row_number >= page_size))
  from page
  join public.wallet_transfers on wallet_transfers.id = page.transfer_id;
end
$$;
comment on function private.list_wallet_transactions is
  'Api: The entries of the acting identity''s wallet, newest first.';

grant execute on function private.get_wallet, private.list_wallet_transactions to authenticated;
