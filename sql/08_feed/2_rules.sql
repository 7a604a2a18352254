-- A transaction may read the clock at 11:59:59.99 and commit at 12:00:00.01. A reader of the noon
-- snapshot in between would count one slot more or less on the next page. So writers read the clock
-- under a shared lock until the commit, and the first readers of a snapshot wait for them. Writers
-- take it last, in triggers at the commit, so that readers do not wait long and a writer that holds
-- it waits for no other row.

create function private.publishing_time() returns timestamptz
  language plpgsql
  set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('publishing', 2));
  return clock_timestamp();
end
$$;
comment on function private.publishing_time is
  'Read under the lock, so that no snapshot misses what is listed or unlisted at that time.';

create function private.take_feed_place(owner_id uuid, published_at timestamptz)
  returns timestamptz
  language plpgsql
  set search_path = ''
as $$
declare
  account_id uuid;
  apart interval;
  place timestamptz;
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
  returning stored.taken_to into place;
  return place;
end
$$;
comment on function private.take_feed_place is
  'Its publishing time, or minutes after the account''s last place if later; at most a day ahead.';

create function private.require_snapshot(snapshot timestamptz) returns timestamptz
  language plpgsql
  set search_path = ''
as $$
begin
  if snapshot > now() or snapshot < now() - interval '6 hours' then
    perform private.refuse_field('snapshot', 'cursor_invalid');
  end if;
  -- No commit takes 15 seconds, so an older snapshot needs no wait.
  if pg_is_in_recovery() then
    -- The lock exists only on the primary; a replica can only check that it has every commit.
    if (private.last_beat() > snapshot + interval '15 seconds') is not true then
      raise exception 'snapshot_not_complete' using errcode = '40001';
    end if;
  elsif snapshot > now() - interval '15 seconds' then
    -- It is enough to have had the lock for a moment. The error below releases it at the end of
    -- this block, even if the reader is cancelled; a session lock could be left on the connection.
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
  'It can be read for 6 hours. On a replica that may not have all of the feed, raises 40001.';
