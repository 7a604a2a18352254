-- The snapshots of the feed: which moments can be read, and when a listing counts as published.
--
-- A transaction may read the clock at 11:59:59.99 and commit at 12:00:00.01. A reader of the noon
-- snapshot in between would count one slot more or less on the next page. So the clock is read
-- under a shared lock that is held until the commit, and the first readers of a snapshot wait for
-- those who hold it. Writers never wait for one another, and take the lock last of all, in triggers
-- that run at the commit: when an account with hundreds of listings is suspended, readers do not
-- wait for all of that, and who holds the lock waits for no row any more.

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
  'The time now, taken so that no snapshot of the feed misses what is listed or unlisted at it.';

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
  insert into private.feed_places as kept (account_id, taken_to)
  values (account_id, published_at)
  on conflict on constraint feed_places_pkey do update
  set taken_to = least(
    greatest(excluded.taken_to, kept.taken_to + apart), now() + interval '24 hours')
  returning kept.taken_to into place;
  return place;
end
$$;
comment on function private.take_feed_place is
  'The place in the feed of a listing that is listed for the first time: when it was published, unless '
  'that is within some minutes of the account''s last place, or before it; none is more than a day ahead.';

create function private.require_snapshot(asked timestamptz) returns timestamptz
  language plpgsql
  set search_path = ''
as $$
begin
  if asked > now() or asked < now() - interval '6 hours' then
    perform private.refuse_field('snapshot', 'cursor_invalid');
  end if;
  -- No commit takes 15 seconds, so for an older snapshot there is nothing to wait for.
  if pg_is_in_recovery() then
    -- The lock is the primary's: a replica can only have all of it already.
    if (private.last_beat() > asked + interval '15 seconds') is not true then
      raise exception 'snapshot_not_complete' using errcode = '40001';
    end if;
  elsif asked > now() - interval '15 seconds' then
    -- To have had the lock is enough. Leaving this block by an error releases it, also when the
    -- reader is cancelled at this very moment; a session lock could stay on its connection for
    -- good.
    begin
      perform pg_advisory_xact_lock(hashtextextended('publishing', 2));
      raise exception using errcode = 'ZZ001';
    exception
      when sqlstate 'ZZ001' then null;
    end;
  end if;
  return asked;
end
$$;
comment on function private.require_snapshot is
  'A moment whose feed may be read: all that was listed or unlisted until then is in the tables. '
  'It can be read for 6 hours, then 422 cursor_invalid. On a replica that may lack some of it yet: 40001.';
