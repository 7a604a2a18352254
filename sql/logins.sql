-- Sign-in: failures are counted before they happen, so that many at once count as many.

create function private.enter_login(identifier text, address text) returns jsonb
  language plpgsql
  security definer -- for guests: reads accounts and counts
  set search_path = ''
as $$
declare
  by_address record;
  by_identifier record;
begin
  select * into by_address from private.count_hit('login_address', address);
  select * into by_identifier
  from private.count_hit('login_identifier', address || ' ' || identifier);
  if by_address.hit is null or by_identifier.hit is null then
    -- What is refused is no failure.
    perform private.forget_hit('login_address', address, by_address.hit);
    perform private.forget_hit('login_identifier', address || ' ' || identifier, by_identifier.hit);
    return jsonb_build_object('error', jsonb_build_object(
      'status', 429, 'code', 'rate_limited', 'detail', jsonb_build_object(
        'retryAfter', greatest(
          case when by_address.hit is null then by_address.reset end,
          case when by_identifier.hit is null then by_identifier.reset end))));
  end if;

  return jsonb_build_object(
    'known', exists (
      select from public.accounts where accounts.email = identifier or accounts.phone = identifier),
    'attempts', (
      select coalesce(jsonb_agg(latest.sealed_password), '[]')
      from (
        select registrations.sealed_password from private.registrations
        where registrations.phone = identifier
          and registrations.created_at > now() - interval '1 hour'
        order by registrations.created_at desc
        limit 10
      ) as latest),
    'hits', jsonb_build_array(by_address.hit, by_identifier.hit));
end
$$;
comment on function private.enter_login is
  'Counts a sign-in as a failure until finish_login takes it back; tells the facade whether there is '
  'an account to try, and the sealed passwords of open attempts on that phone.';

create function private.finish_login(identifier text, address text, hits jsonb) returns void
  language plpgsql
  security definer -- counts in a closed table
  set search_path = ''
as $$
begin
  perform private.forget_hit('login_address', address, (hits ->> 0)::timestamptz);
  perform private.forget_hit(
    'login_identifier', address || ' ' || identifier, (hits ->> 1)::timestamptz);
end
$$;
comment on function private.finish_login is 'A sign-in that succeeded is free.';

revoke execute on all functions in schema private from public;
grant execute on function private.enter_login, private.finish_login to backend;
