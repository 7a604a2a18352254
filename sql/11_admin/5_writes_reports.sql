create function private.add_report(
  target_type text, target_id uuid, reason text, note text default null, part text default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  note_text constant text := nullif(
    btrim(private.normal_form(note, 'nfc', 1000, 'note'), E' \t\r\n'), '');
  report public.reports;
begin
  perform private.count_action('reports');
  report.identity_id := private.lock_identity();
  perform private.refuse_fields((
    select coalesce(jsonb_agg(private.field_problem(path, case
      when given is null then 'required'
      when path = 'note' and char_length(given) > 1000 then 'too_long'
      else 'invalid' end, most => 1000)), '[]')
    from (values
      ('targetType', target_type, private.is_word('report_target', target_type)),
      ('targetId', target_id::text, target_id is not null),
      ('reason', reason, private.is_word('report_reason', reason)),
      ('note', note_text,
        note_text is null or char_length(note_text) <= 1000 and private.is_clean(note_text)),
      ('part', part, part is null or part = 'picture' and target_type = 'message')
    ) as rule (path, given, holds)
    where holds is not true
  ));
  select found.author_id, found.conversation_id
  into report.reported_identity_id, report.conversation_id
  from private.require_reportable(target_type, target_id, report.identity_id) as found;
  report.target_type := target_type;
  report.target_id := target_id;
  report.part := part;
  report.stored_content := private.reported_content(report);
  if report.stored_content is null then
    perform private.refuse(404, 'not_found'); -- a review that its author has just deleted
  elsif part = 'picture' and report.stored_content -> 'pictures' = '[]' then
    perform private.refuse_field('part', 'invalid');
  end if;
  report.content_hash := encode(sha256(convert_to(report.stored_content::text, 'utf8')), 'hex');
  if exists (
    select from public.reports as earlier
    where earlier.account_id = private.account_id()
      and earlier.target_type = add_report.target_type and earlier.target_id = add_report.target_id
      and (earlier.target_type = 'message'
        or earlier.status = 'dismissed' and earlier.content_hash = report.content_hash
          and (earlier.target_type <> 'identity' or earlier.decided_at > now() - interval '7 days'))
  ) then
    perform private.refuse(409, 'report_exists');
  end if;
  insert into public.reports (account_id, identity_id, target_type, target_id, conversation_id, part,
    reported_identity_id, stored_content, content_hash, reason, note)
  values (private.account_id(), report.identity_id, report.target_type, report.target_id,
    report.conversation_id, report.part, report.reported_identity_id, report.stored_content,
    report.content_hash, add_report.reason, note_text)
  on conflict do nothing -- reports_open_once_key
  returning * into report;
  if report.id is null then
    perform private.refuse(409, 'report_exists');
  end if;
  return private.report_record(report);
end
$$;
comment on function private.add_report is
  'Api: Reports a listing, advertiser, message or review that the caller can see, or a listing '
  'that the caller asked or talked about; for a message, part may be picture. A copy of the '
  'content is stored. 404 property_not_found, identity_not_found, not_found; 409 report_exists if '
  'an earlier report is still open, or was dismissed and the content has not changed (for a '
  'person, within 7 days; for a message, always); 422 for the caller''s own content.';

grant execute on function private.add_report to authenticated;
