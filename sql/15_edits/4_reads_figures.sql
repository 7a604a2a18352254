-- No table is scanned completely: long queues are counted up to a limit, with the index that the job uses.

create function private.job_queues() returns table (name text, waiting bigint, since timestamptz)
  language sql stable security definer set search_path = ''
as $$
  select 'pushes', count(*), min(due.at) from (
    select push_outbox.due_at as at from private.push_outbox
    where push_outbox.due_at <= now()
    order by push_outbox.due_at, push_outbox.id limit 10000
  ) as due
  union all
  select 'notification_events', count(*), min(due.at) from (
    select notification_events.created_at as at from private.notification_events
    where notification_events.notified_at is null
    order by notification_events.id limit 10000
  ) as due
  union all
  select 'deferred_notifications', count(*), min(due.at) from (
    select deferred_notifications.created_at as at from private.deferred_notifications
    order by deferred_notifications.id limit 10000
  ) as due
  union all
  select 'contact_messages', count(*), min(due.at) from (
    select contact_messages.created_at as at from private.contact_messages
    where contact_messages.due_at <= now()
    order by contact_messages.due_at limit 10000
  ) as due
  union all
  select 'payments', count(*), min(due.at) from (
    select payments.created_at as at from public.payments
    where payments.state in ('starting', 'open', 'superseded')
    order by payments.created_at limit 10000
  ) as due
  union all
  select 'refunds', count(*), min(refunds.created_at) from public.refunds
  where refunds.state = 'requested'
  union all
  select 'deletions', count(*), min(due.at) from (
    select accounts.delete_at as at from public.accounts
    where accounts.delete_at <= now()
    order by coalesce(accounts.delete_at, 'infinity') limit 10000
  ) as due
  union all
  select 'file_moves', count(*), min(due.at) from (
    select file_moves.created_at as at from private.file_moves
    where file_moves.due_at <= now()
    order by file_moves.due_at, file_moves.id limit 10000
  ) as due
  union all
  select 'file_removals', count(*), min(due.at) from (
    (
      -- Reports may keep many of these files. To bound the work, the limit is applied before the kept files
      -- are left out.
      select greatest(media.removal_due_at, media.discarded_at) as at
      from (
        select media.id, media.removal_due_at, media.discarded_at from public.media
        where media.discarded_at is not null and media.removed_at is null
          and media.removal_due_at <= now()
        order by media.removal_due_at, media.discarded_at limit 10000
      ) as media
      where not exists (
        select from public.reports
        where reports.stored_content -> 'pictures' @> to_jsonb(array[media.id])
          and (reports.target_type, reports.status) <> ('message', 'upheld')
      )
    )
    union all
    (
      select greatest(documents.removal_due_at, documents.discarded_at) from public.documents
      where documents.discarded_at is not null and documents.removal_due_at <= now()
      order by documents.removal_due_at limit 1000
    )
    union all
    (
      select greatest(stray_files.removal_due_at, stray_files.found_at) from private.stray_files
      where stray_files.removal_due_at <= now()
      order by stray_files.removal_due_at limit 1000
    )
  ) as due
$$;
comment on function private.job_queues is
  'For each job, the number of items that wait for it and the time of the oldest.';

create function private.moderation_queues()
  returns table (name text, waiting bigint, since timestamptz)
  language sql stable security definer set search_path = ''
as $$
  select case properties.status when 'pending_review' then 'listing' else 'changes' end,
    count(*), min(properties.created_at)
  from public.properties where private.awaits_review(properties) group by 1
  union all
  select 'identity', count(*), min(identities.created_at) from public.identities
  where private.awaits_verification(identities)
  union all
  select 'report', count(*), min(reports.created_at) from public.reports
  where reports.status = 'open'
  union all
  select 'duplicate_suspected', count(*), min(duplicates.created_at) from public.duplicates
  where duplicates.state = 'open'
  union all
  select 'wallet_payout', count(*), min(wallet_payouts.created_at) from public.wallet_payouts
  where wallet_payouts.state = 'open' and (wallet_payouts.not_before > now()) is not true
$$;
comment on function private.moderation_queues is
  'For each kind of item in GET /admin/moderation, the number of waiting items and the time of the '
  'oldest.';

create function private.figures() returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  today constant timestamptz := date_trunc('day', now(), 'Asia/Kuwait');
begin
  return json_build_object(
    'jobsRan', (
      select extract(epoch from now() - timestamps.at) from private.timestamps
      where timestamps.name = 'jobs_ran'
    ),
    'queues', (
      select json_agg(json_build_object('name', queues.name, 'waiting', queues.waiting,
        'age', extract(epoch from now() - queues.since)))
      from private.job_queues() as queues
    ),
    'moderation', (
      select json_agg(json_build_object('name', queues.name, 'waiting', queues.waiting,
        'age', extract(epoch from now() - queues.since)))
      from private.moderation_queues() as queues
    ),
    'pushesFailed', (
      select count(*) filter (where first.attempts > 0 and first.lease is null) from (
        select push_outbox.attempts, push_outbox.lease from private.push_outbox
        order by push_outbox.due_at, push_outbox.id limit 10000
      ) as first
    ),
    'sent', (
      select json_build_object(
        'sms', coalesce(sum(sms_sent.sent), 0), 'mail', coalesce(sum(sms_sent.mail), 0))
      from private.sms_sent where sms_sent.hour >= today
    ),
    'codes', (
      select json_build_object(
        'limit', rates.max, 'used', private.hits_within('code_service', 'all', rates.seconds))
      from private.rates where rates.rule = 'code_service' and rates.max < 1000000
    ),
    'alarms', (
      select coalesce(json_object_agg(open.kind, open.number), '{}') from (
        select alarms.kind, count(*) as number from private.alarms
        where alarms.settled_at is null
        group by alarms.kind order by alarms.kind limit 100
      ) as open
    ),
    'maintenance', private.setting('maintenance') <> 'null',
    'readOnly', current_setting('transaction_read_only')::boolean,
    'bytes', pg_database_size(current_database()),
    'connections', (select sum(pg_stat_database.numbackends) from pg_stat_database),
    'connectionLimit', current_setting('max_connections')::integer);
end
$$;
comment on function private.figures is 'The figures of the database for GET /metrics.';

create function private.replica_lag() returns double precision
  language sql stable security definer set search_path = ''
as $$
  select extract(epoch from clock_timestamp() - private.last_beat())::double precision
$$;
comment on function private.replica_lag is
  'How many seconds this replica is behind the primary; null if no heartbeat has arrived.';

grant execute on function private.figures, private.replica_lag to backend;
