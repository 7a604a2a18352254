-- Alarms: what an admin has to look at. One row for each thing until it is settled.

create table private.alarms (
  id bigint generated always as identity primary key,
  kind text not null,
  subject_id text not null,
  facts jsonb not null default '{}',
  raised_at timestamptz not null default now(),
  settled_at timestamptz,
  settled_note text
);
comment on table private.alarms is
  'What an admin has to look at: money that does not fit. One row for each until it is settled.';
comment on column private.alarms.id is 'Order.';
comment on column private.alarms.kind is 'What happened, as wallet_differs or payment_mismatch.';
comment on column private.alarms.subject_id is 'The wallet, payment, invoice or event.';
comment on column private.alarms.facts is 'What was seen.';
comment on column private.alarms.raised_at is 'When.';
comment on column private.alarms.settled_at is 'When an admin was done with it.';
comment on column private.alarms.settled_note is 'What the admin did.';
create unique index alarms_one_unsettled_key on private.alarms (kind, subject_id)
  where settled_at is null;
alter table private.alarms enable row level security;
create policy "nobody but functions of their owner" on private.alarms using (false);

create function private.raise_alarm(kind text, subject_id text, facts jsonb default '{}')
  returns void
  language plpgsql
  security definer -- writes a closed table, for whoever came across it
  set search_path = ''
as $$
begin
  insert into private.alarms (kind, subject_id, facts)
  values (raise_alarm.kind, raise_alarm.subject_id, raise_alarm.facts)
  on conflict do nothing;
  if found then
    perform private.notify(admins.account_id, null, 'system', null,
      jsonb_build_object(
        'titleAr', 'تنبيه مالي يحتاج إلى مراجعة', 'titleEn', 'A payment needs a look',
        'bodyAr', raise_alarm.kind, 'bodyEn', raise_alarm.kind))
    from public.admins;
  end if;
end
$$;
comment on function private.raise_alarm is
  'Tells the admins, once for each thing until it is settled.';

revoke execute on all functions in schema private from public;
