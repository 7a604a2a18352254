create function private.add_report(
  target_type text, target_id uuid, reason text, note text default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  reporter_id uuid;
  note_text constant text := nullif(
    btrim(private.normal_form(note, 'nfc', 1000, 'note'), E' \t\r\n'), '');
  report public.reports;
begin
  perform private.count_action('reports');
  reporter_id := private.lock_identity();
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
        note_text is null or char_length(note_text) <= 1000 and private.is_clean(note_text))
    ) as rule (path, given, holds)
    where holds is not true
  ));
  insert into public.reports (account_id, identity_id, target_type, target_id, conversation_id, reason,
    note)
  values (private.account_id(), reporter_id, add_report.target_type, add_report.target_id,
    private.require_reportable(target_type, target_id, reporter_id), add_report.reason, note_text)
  on conflict on constraint reports_once_key do nothing
  returning * into report;
  if report.id is null then
    perform private.refuse(409, 'report_exists');
  end if;
  return private.report_record(report);
end
$$;
comment on function private.add_report is
  'Api: Reports a listing, advertiser, message or review that the caller sees. 404 '
  'property_not_found, identity_not_found, not_found; 409 report_exists; 422 for one''s own.';

grant execute on function private.add_report to authenticated;
