-- Reports: what people tell admins of a listing, an advertiser, a message or a review.
--
-- An account reports a thing once, whichever identity it acts as. Admins find reports among what
-- waits (11_admin/5_writes_moderation.sql).

create table public.reports (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  target_type text not null,
  target_id uuid not null,
  reason text not null,
  note text constraint reports_note_form check (
    char_length(note) between 1 and 1000 and private.is_clean(note)
  ),
  status text not null default 'open'
    constraint reports_status_is_known check (status in ('open', 'upheld', 'dismissed')),
  status_reason text,
  created_at timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  constraint reports_once_key unique (account_id, target_type, target_id)
);
comment on table public.reports is 'What people report to admins; each account a thing once.';
comment on column public.reports.id is 'Its id.';
comment on column public.reports.account_id is 'Who reports.';
comment on column public.reports.identity_id is 'Acting as whom.';
comment on column public.reports.target_type is 'Vocabulary report_target.';
comment on column public.reports.target_id is 'The listing, identity, message or review.';
comment on column public.reports.reason is 'Vocabulary report_reason.';
comment on column public.reports.note is 'In the reporter''s words; gone when the account is deleted.';
comment on column public.reports.status is 'open, upheld (it was right) or dismissed.';
comment on column public.reports.status_reason is 'Why it was decided so.';
comment on column public.reports.created_at is 'When.';
comment on column public.reports.decided_at is 'When an admin decided.';
create index reports_identity_idx on public.reports (identity_id);
create index reports_target_idx on public.reports (target_type, target_id);
create index reports_open_idx on public.reports (created_at, id) where status = 'open';
alter table public.reports enable row level security;
revoke all on public.reports from anon, authenticated;
create policy "nobody but functions of their owner" on public.reports using (false);

create trigger reports_are_audited
  after update of status on public.reports
  for each row when (old.status is distinct from new.status)
  execute function private.audit_change('report.status', 'report', 'status');

create function private.require_reportable(
  target_type text, target_id uuid, viewer_identity_id uuid
) returns void
  language plpgsql
  stable
  security definer -- reads what belongs to others, to tell whether the caller sees it
  set search_path = ''
as $$
declare
  author_id uuid;
begin
  case target_type
    when 'property' then
      author_id := (private.seen_property(target_id, viewer_identity_id)).owner_identity_id;
    when 'identity' then
      if not private.is_on_show(target_id) then
        perform private.refuse(404, 'identity_not_found');
      end if;
      author_id := target_id;
    when 'message' then
      select messages.sender_identity_id into author_id from public.messages
      where messages.id = target_id
        and private.hears(messages.conversation_id, viewer_identity_id);
    else
      select reviews.author_identity_id into author_id from public.reviews
      where reviews.id = target_id and reviews.listed;
  end case;
  if author_id is null then
    perform private.refuse(404, 'not_found');
  elsif exists (
    select from public.identities
    where identities.id = author_id and identities.account_id = private.account_id()
  ) then
    perform private.refuse_fields('[{"path":"targetId","code":"invalid"}]'); -- one's own
  end if;
end
$$;
comment on function private.require_reportable is
  '404 for what the identity does not see, 422 for what belongs to the calling account.';

create function private.report_record(report public.reports) returns json
  language sql
  immutable
  set search_path = ''
as $$
  select json_build_object(
    'id', report.id,
    'targetType', report.target_type,
    'targetId', report.target_id,
    'reason', report.reason,
    'note', report.note,
    'status', report.status,
    'createdAt', report.created_at
  )
$$;
comment on function private.report_record is 'A report as whoever made it sees it.';

create function private.add_report(target_type text, target_id uuid, reason text, note text)
  returns json
  language plpgsql
  security definer -- clients have no write grant on reports
  set search_path = ''
as $$
declare
  reporter_id uuid;
  words constant text := nullif(btrim(normalize(note, nfc), E' \t\r\n'), '');
  report public.reports;
begin
  perform private.count_act('reports');
  reporter_id := private.hold_identity();
  perform private.refuse_fields((
    select coalesce(jsonb_agg(jsonb_build_object('path', path, 'code', 'invalid')), '[]')
    from (values
      ('targetType', private.is_word('report_target', target_type)),
      ('targetId', target_id is not null),
      ('reason', private.is_word('report_reason', reason)),
      ('note', words is null or char_length(words) <= 1000 and private.is_clean(words))
    ) as rule (path, holds)
    where holds is not true
  ));
  perform private.require_reportable(target_type, target_id, reporter_id);
  insert into public.reports (account_id, identity_id, target_type, target_id, reason, note)
  values (private.account_id(), reporter_id, add_report.target_type, add_report.target_id,
    add_report.reason, words)
  on conflict on constraint reports_once_key do nothing
  returning * into report;
  if report.id is null then
    perform private.refuse(409, 'report_exists');
  end if;
  return private.report_record(report);
end
$$;
comment on function private.add_report is 'Reports something; see api.add_report.';

create function api.add_report(
  target_type text, target_id uuid, reason text, note text default null
) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.add_report(target_type, target_id, reason, note);
end
$$;
comment on function api.add_report is
  'Reports a listing, advertiser, message or review that the caller sees to the admins. 404 '
  'property_not_found, identity_not_found, not_found; 409 report_exists; 422 for one''s own.';

create function private.forget_notes() returns trigger
  language plpgsql
  security definer -- writes rows of whoever is going
  set search_path = ''
as $$
begin
  update public.reports set note = null
  where reports.account_id = new.id and reports.note is not null;
  return null;
end
$$;
comment on function private.forget_notes is 'Of a deleted account''s reports the words go.';

create trigger accounts_forget_their_notes
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_notes();

revoke execute on all functions in schema private, api from public;
grant execute on function private.add_report to authenticated;
grant execute on function api.add_report to authenticated;
