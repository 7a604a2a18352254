-- How much one administrator does by routes within a day: the rates admin_deletions, admin_identifiers,
-- admin_locks and admin_refunds. Never refused for good: past a ceiling each further so many need a proof
-- that was made after the ones before. Counted from the audit trail, so that there is no second count.

create function private.ceiling_of(entry public.audit, out rule text, out amount numeric)
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  -- What decide_moderation does counts for none, so it does not begin with lock_ceilings.
  rule := case
    when entry.action = 'account.deleted' then 'admin_deletions'
    when entry.action = 'account.identifier' then 'admin_identifiers'
    when entry.action = 'account.status' and entry.after ->> 'status' in ('suspended', 'banned')
      then 'admin_locks'
    when entry.action = 'invoice.refund' then 'admin_refunds'
  end;
  amount := case rule when 'admin_refunds' then (entry.after ->> 'amount')::numeric else 1 end;
end
$$;
comment on function private.ceiling_of is
  'The rate that an entry of the audit trail counts for, and as how much: refunds in dinars. Null for none.';

create function private.lock_ceilings(admin_id uuid) returns void
  language sql
  set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('ceilings ' || admin_id, 0))
$$;
comment on function private.lock_ceilings is
  'One after another: of two acts of one administrator at once the second counts the first. Before all '
  'other locks.';

create function private.check_ceiling() returns trigger
  language plpgsql
  security definer -- reads a closed table
  set search_path = ''
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
    -- The newest of those that belong to the ceilings before this one.
    select max(earlier.at) into newest_before
    from (
      select audit.at, sum(done.amount) over (order by audit.at, audit.id) as so_far
      from public.audit cross join lateral private.ceiling_of(audit) as done
      where audit.actor_id = new.actor_id and done.rule = counted.rule
        and audit.at > new.at - make_interval(secs => rate.seconds)
    ) as earlier
    where ceil(earlier.so_far / rate.max) < ceil(total / rate.max);
    if (private.proven_at() > coalesce(newest_before, '-infinity')) is not true then
      perform private.refuse(403, 'proof_required');
    end if;
  end if;
  if floor(total / rate.max) > floor((total - counted.amount) / rate.max) then
    -- With the entry that reached it: the same ceiling on another day is another alarm.
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
  'Past a ceiling, 403 proof_required without a proof newer than what reached it; what reaches one is an '
  'alarm, so that a leaked token is noticed where it ends.';

create trigger audit_keeps_ceilings
  after insert on public.audit
  for each row when (new.actor_id is not null)
  execute function private.check_ceiling();
