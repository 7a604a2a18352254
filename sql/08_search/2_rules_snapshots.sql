-- The snapshots of the feed: which moments can be read, and when a listing counts as published.

-- A transaction may take its time at 11:59:59.99 and commit at 12:00:00.01. Whoever read the noon
-- snapshot in between would count one slot more or less on the next page. So times are taken under a
-- shared lock that is held until the commit, and the first readers of a snapshot wait for those that
-- hold it. Writers never wait for one another, and take it last of all, by triggers that run at the
-- commit: an account with hundreds of listings is suspended without readers waiting for all of it,
-- and whoever holds the lock waits for no row any more.
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
  'Now, in such a way that no snapshot of the feed misses what comes or goes at this time.';

create function private.feed_snapshot(asked timestamptz) returns timestamptz
  language plpgsql
  set search_path = ''
as $$
begin
  if asked > now() or asked < now() - interval '6 hours' then
    perform private.refuse(422, 'cursor_invalid',
      '{"fields":[{"path":"snapshot","code":"cursor_invalid"}]}');
  end if;
  -- No commit takes that long, so an older snapshot has nobody to wait for.
  if asked > now() - interval '15 seconds' then
    -- To have had the lock is enough. With this block it goes back, also from a reader who is cut
    -- off at this very moment: a lock of the session could stay on its connection for good.
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
comment on function private.feed_snapshot is
  'A moment whose feed may be read: all that came or went until then is in the tables. It lives 6 '
  'hours, then 422 cursor_invalid.';
