-- A transaction may read the clock at 11:59:59.99 and commit at 12:00:00.01. Somebody who reads a page
-- of the noon snapshot in between, and the next page after the commit, would then miss or repeat a
-- slot. Writers therefore read the clock under a shared lock that they hold until they commit, and the
-- first readers of a snapshot wait for this lock. Writers take it in deferred triggers, at the end of
-- the transaction, so that readers do not wait long.

create function private.publishing_time() returns timestamptz
  language plpgsql set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('publishing', 2));
  return clock_timestamp();
end
$$;
comment on function private.publishing_time is
  'Takes the shared lock and returns the current time. No reader of a snapshot misses a change '
  'that is stored with this time.';

create function private.take_feed_place(owner_id uuid, published_at timestamptz)
  returns timestamptz
  language plpgsql set search_path = ''
as $$
declare
  account_id uuid;
  apart interval;
  sorted_at timestamptz;
begin
  select identities.account_id, make_interval(secs => rates.seconds)
  into account_id, apart
  from public.identities
  join public.accounts on accounts.id = identities.account_id
  join private.rates on rates.rule = case when private.is_proven(accounts)
    then 'feed_places' else 'feed_places_unproven' end
  where identities.id = owner_id and rates.max < 1000000;
  if not found then
    return published_at;
  end if;
  insert into private.feed_places as stored (account_id, taken_to)
  values (account_id, published_at)
  on conflict on constraint feed_places_pkey do update
  set taken_to = least(
    greatest(excluded.taken_to, stored.taken_to + apart), now() + interval '24 hours')
  returning stored.taken_to into sorted_at;
  return sorted_at;
end
$$;
comment on function private.take_feed_place is
  'Assigns the next feed place of an account: a time by which the feed is sorted. It is '
  'published_at or, if later, the latest place of the account plus the interval in private.rates, '
  'but at most 24 hours from now.';

create function private.require_snapshot(snapshot timestamptz) returns timestamptz
  language plpgsql set search_path = ''
as $$
begin
  if snapshot > now() or snapshot < now() - interval '6 hours' then
    perform private.refuse_field('snapshot', 'cursor_invalid');
  end if;
  -- No commit takes 15 seconds, so readers of a snapshot older than that need not wait.
  if pg_is_in_recovery() then
    -- The lock exists only on the primary. A replica can only check that it has replayed every commit.
    if (private.last_beat() > snapshot + interval '15 seconds') is not true then
      raise exception 'snapshot_not_complete' using errcode = '40001';
    end if;
  elsif snapshot > now() - interval '15 seconds' then
    -- The lock must be acquired but need not be held. The exception below rolls back this block, which
    -- releases the lock. A session-level lock could be left behind on the connection.
    begin
      perform pg_advisory_xact_lock(hashtextextended('publishing', 2));
      raise exception using errcode = 'ZZ001';
    exception
      when sqlstate 'ZZ001' then null;
    end;
  end if;
  return snapshot;
end
$$;
comment on function private.require_snapshot is
  'Refuses snapshots in the future or over 6 hours old. Raises 40001 on a replica that may lack a '
  'commit before the snapshot.';
