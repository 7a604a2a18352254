-- Signing in: a failure is counted before it happens, so that many at once count as many.

create function private.begin_sign_in(identifier text, address text, address_hash text)
  returns jsonb
  language plpgsql
  security definer -- for guests: reads accounts and counts
  set search_path = ''
as $$
declare
  account constant uuid := private.account_with(identifier);
  is_known constant boolean := private.is_known_address(account, address_hash);
  pair constant text := address || ' ' || identifier;
  counted record;
  wait integer;
begin
  if is_known then
    -- Neighbours at the address cannot use up what a known pair has.
    counted := private.count_hits('{login_identifier}', array[pair]);
  else
    counted := private.count_hits(
      '{login_address,login_identifier,login_unknown_all}', array[address, pair, identifier]);
  end if;
  if counted.refused = 'login_unknown_all' then
    -- Unknown addresses have used up the limit they share. The owner may be at one of them.
    wait := counted.reset;
    counted := private.count_hits(
      '{login_address,login_identifier,login_unknown}', array[address, pair, pair]);
    if counted.refused = 'login_unknown' then
      counted.reset := least(counted.reset, wait);
    end if;
  end if;
  if counted.refused is not null then
    return jsonb_build_object('error', jsonb_build_object(
      'code', 'rate_limited', 'detail', jsonb_build_object('retryAfter', counted.reset)));
  end if;

  return jsonb_build_object(
    'exists', account is not null,
    'attempts', (
      select coalesce(jsonb_agg(latest.sealed_password), '[]')
      from (
        select registrations.sealed_password from private.registrations
        where registrations.phone = identifier
          and registrations.sealed_password is not null
          and registrations.created_at > now() - (private.code_limits()).attempt_life
        order by registrations.created_at desc
        limit 10
      ) as latest),
    'hits', counted.hits,
    'hasDecoy', private.account_with(private.decoy_email()) is not null);
end
$$;
comment on function private.begin_sign_in is
  'Counts a sign-in as a failure until its hits are taken back; returns whether there is an '
  'account to try, the sealed passwords of open registrations of that phone, and whether the '
  'decoy exists.';

create function private.return_sign_in(identifier text, address text, hits jsonb) returns void
  language plpgsql
  security definer -- counts
  set search_path = ''
as $$
begin
  -- Bounded: whoever can slow Auth down must not get tries without end by it.
  if (private.count_hits('{login_returned,login_returned_address}',
      array[address || ' ' || identifier, address])).refused is null then
    perform private.uncount_hits(hits);
  end if;
end
$$;
comment on function private.return_sign_in is
  'Takes back the hits of a sign-in whose password Auth did not compare, because it was away.';

create function private.finish_sign_in(account_id uuid, address_hash text, hits jsonb default null)
  returns jsonb
  language plpgsql
  security definer -- counts, and writes a closed table
  set search_path = ''
as $$
declare
  counted record;
begin
  perform private.uncount_hits(hits);
  counted := private.count_hit('sign_ins', account_id::text);
  if counted.hit is null then
    return jsonb_build_object('error', jsonb_build_object(
      'code', 'rate_limited', 'detail', jsonb_build_object('retryAfter', counted.reset)));
  end if;
  -- Locked, so that nothing is left here of an account that is being deleted.
  insert into private.known_addresses (account_id, mark, known_until)
  select accounts.id, private.address_mark(accounts.id::text, address_hash),
    now() + interval '90 days'
  from public.accounts
  where accounts.id = finish_sign_in.account_id and accounts.status <> 'deleted'
  for share
  on conflict on constraint known_addresses_pkey do update set known_until = excluded.known_until;
  return null;
end
$$;
comment on function private.finish_sign_in is
  'After a sign-in that succeeded, by whatever proof: it was no failure, counts as one of the '
  'account''s sign-ins in an hour ({error} for one too many), and its address is known from now '
  'on.';

grant execute on function
  private.begin_sign_in, private.return_sign_in, private.finish_sign_in
  to backend;
