create function private.note_record(note public.notes) returns json
  language sql stable set search_path = ''
as $$
  select json_build_object(
    'id', note.id,
    'targetType', note.target_type,
    'targetId', note.target_id,
    'accountId', note.account_id,
    'by', json_build_object('id', note.by_id, 'fullName', (
      select individual_profiles.full_name from public.individual_profiles
      where individual_profiles.account_id = note.by_id
    )),
    'text', note.body,
    'createdAt', note.created_at
  )
$$;

create function private.list_notes(
  target_type text default null, target_id uuid default null, account_id uuid default null,
  sort text default 'newest', page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  sorts constant jsonb := '{"oldest": ["notes.created_at", "notes.id"]}';
  filters constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'target_type', target_type, 'target_id', target_id, 'account_id', account_id));
  query text := concat_ws(' ', 'list_notes', private.require_admin(), filters, sort);
  key jsonb := private.cursor_key(query, page_cursor);
  keys jsonb[];
begin
  perform private.refuse_fields((
    select coalesce(jsonb_agg(jsonb_build_object('path', path, 'code', 'invalid')), '[]')
    from (values
      ('targetType', target_type is null or private.is_word('note_target', target_type)),
      ('sort', private.is_sort(sorts, sort))
    ) as rule (path, holds)
    where not holds
  ));
  keys := private.sorted_keys($sql$
    from public.notes
    where (not $1 ? 'target_type' or notes.target_type = $1 ->> 'target_type')
      and (not $1 ? 'target_id' or notes.target_id = ($1 ->> 'target_id')::uuid)
      and (not $1 ? 'account_id' or notes.account_id = ($1 ->> 'account_id')::uuid)
    $sql$, sorts, sort, filters, key, page_size);
  return query
  select
    coalesce(json_agg(private.note_record(notes) order by listed.ordinal), '[]'),
    private.next_cursor(query, to_jsonb(keys[page_size:]))
  from unnest(private.key_ids(keys[:page_size])::uuid[]) with ordinality as listed (id, ordinal)
  join public.notes on notes.id = listed.id;
end
$$;
comment on function private.list_notes is
  'Api: For admins: the notes about a target or an account, newest or oldest first. 403 '
  'admin_only.';

grant execute on function private.list_notes to authenticated;
