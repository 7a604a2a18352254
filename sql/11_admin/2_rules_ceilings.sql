-- The rates admin_… are ceilings: how much one administrator may do through the API within a day, counted
-- in the audit trail. Each time the total passes a multiple of the ceiling, the administrator must
-- re-authenticate (get a newer proof) to continue.

create function private.ceiling_of(entry public.audit, out rule text, out amount numeric)
  language plpgsql immutable set search_path = ''
as $$
begin
  -- decide_moderation does not call lock_ceilings, because none of its actions counts towards a ceiling.
  rule := case
    when entry.action = 'account.deleted' then 'admin_deletions'
    when entry.action = 'account.identifier' then 'admin_identifiers'
    when entry.action = 'account.status' and entry.after ->> 'status' in ('suspended', 'banned')
      then 'admin_locks'
    when entry.action in ('invoice.refund', 'account.payout') then 'admin_refunds'
  end;
  amount := case rule when 'admin_refunds' then (entry.after ->> 'amount')::numeric else 1 end;
end
$$;

create function private.lock_ceilings(admin_id uuid) returns void
  language sql set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('ceilings ' || admin_id, 0))
$$;
comment on function private.lock_ceilings is
  'Called before any other lock is taken. Of two concurrent calls by the same admin, the second '
  'waits and then counts the first.';

create function private.check_ceiling() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  counted constant record := private.ceiling_of(new);
  rate private.rates;
  total numeric;
  newest_before timestamptz;
begin
  select * into rate from private.rates where rates.rule = counted.rule and rates.max < 1000000;
  if not found then
    return null;
  end if;
  select sum(done.amount) into total
  from public.audit cross join lateral private.ceiling_of(audit) as done
  where audit.actor_id = new.actor_id and done.rule = counted.rule
    and audit.at > new.at - make_interval(secs => rate.seconds);
  if total > rate.max then
    -- The time of the last entry before the total passed the latest multiple of the ceiling. The
    -- administrator must have re-authenticated since.
    select max(earlier.at) into newest_before
    from (
      select audit.at, sum(done.amount) over (order by audit.at, audit.id) as so_far
      from public.audit cross join lateral private.ceiling_of(audit) as done
      where audit.actor_id = new.actor_id and done.rule = counted.rule
        and audit.at > new.at - make_interval(secs => rate.seconds)
    ) as earlier
    where ceil(earlier.so_far / rate.max) < ceil(total / rate.max);
    perform private.require_admin_proof(coalesce(newest_before, '-infinity'));
  end if;
  if floor(total / rate.max) > floor((total - counted.amount) / rate.max) then
    -- The key contains the entry's id, because an alarm with the same key would not be raised again on
    -- another day.
    perform private.raise_alarm('admin_ceiling', concat_ws(' ', new.actor_id, counted.rule,
      floor(total / rate.max), new.id), jsonb_build_object('accountId', new.actor_id, 'rule', counted.rule,
      'total', total, 'name', (
        select individual_profiles.full_name from public.individual_profiles
        where individual_profiles.account_id = new.actor_id
      )));
  end if;
  return null;
end
$$;
comment on function private.check_ceiling is
  'Raises 403 proof_required if the total is above the ceiling and the administrator has not '
  're-authenticated since it passed the latest multiple. Also raises an alarm at each multiple, so '
  'that the use of a leaked token is noticed.';

create trigger audit_keeps_ceilings
  after insert on public.audit
  for each row when (new.actor_id is not null)
  execute function private.check_ceiling();
