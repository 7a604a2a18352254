create function private.office_phone(typed text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  bare constant text := private.bare_phone(typed);
  national constant text := substring(bare from '^(?:\+?965)?([0-9]{7,8})$');
begin
  return case
    when national ~ '^([0-9]{8}|18[0-9]{5})$' then '+965' || national
    -- In October 2008, a leading 2 was added to landline numbers. Seven digits that begin with 5 are
    -- more likely a mobile number with a missing digit.
    when national ~ '^[234][0-9]{6}$' then '+9652' || national
    else bare
  end;
end
$$;
comment on function private.office_phone is
  'Adds the country code to a number of eight digits, to a number of seven digits that begins with '
  '18, and, together with a 2, to an old landline number. From any other text it only removes '
  'separators. identifiers.ts does the same.';

create function private.check_organisation(organisation public.organisations) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  today date := (now() at time zone 'Asia/Kuwait')::date;
  problems jsonb;
begin
  -- The constraints of the table enforce most of these rules too.
  select jsonb_agg(private.field_problem(path, code, fewest, most)) into problems
  from (values
    ('nameAr', 2, 120, coalesce(private.length_problem(organisation.name_ar, 2, 120),
      case when not private.is_name(organisation.name_ar) then 'invalid' end)),
    ('nameEn', 2, 120, case when organisation.name_en is not null then
      coalesce(private.length_problem(organisation.name_en, 2, 120),
        case when not private.is_name(organisation.name_en) then 'invalid' end) end),
    ('licenceNo', 3, 40, coalesce(private.length_problem(organisation.licence_no, 3, 40),
      case when organisation.licence_no !~ '^[0-9A-Z/-]*$' then 'invalid' end)),
    ('licenceExpiresOn', null, null,
      case when organisation.licence_expires_on is null then 'required' end),
    ('phone', null, null,
      case when organisation.phone !~ '^\+965([0-9]{8}|18[0-9]{5})$' then 'invalid' end),
    ('whatsapp', null, null,
      case when organisation.whatsapp !~ '^\+965([0-9]{8}|18[0-9]{5})$' then 'invalid' end),
    ('email', null, null, case when organisation.email
      !~ '^[^@[:space:]]+@[^@[:space:]]+\.[^@[:space:]]+$' then 'invalid' end),
    -- Credentials before an @ can be mistaken for another host, and invisible characters can reverse
    -- the text or make it look like another address.
    ('website', null, null, case when organisation.website !~ '^https://[^[:space:]]{3,}$'
      or organisation.website ~* '^https://[^/?#]*@'
      or organisation.website <> private.visible(organisation.website) then 'invalid' end),
    ('aboutAr', null, 4000, case when char_length(organisation.about_ar) > 4000 then 'too_long'
      when not private.is_clean(concat_ws(' ', organisation.about_ar,
        organisation.address_ar, organisation.working_hours)) then 'invalid' end),
    ('addressAr', null, 300,
      case when char_length(organisation.address_ar) > 300 then 'too_long' end),
    ('workingHours', null, 300,
      case when char_length(organisation.working_hours) > 300 then 'too_long' end)
  ) as rule (path, fewest, most, code)
  where code is not null;
  if problems is not null then
    perform private.refuse_fields(problems);
  end if;
  if organisation.licence_expires_on < today then
    perform private.refuse_field('licenceExpiresOn', 'licence_expired');
  end if;
  if num_nonnulls(organisation.governorate_id, organisation.area_id) > 0 and not exists (
    select from public.areas
    where areas.governorate_id = organisation.governorate_id
      and areas.id = coalesce(organisation.area_id, areas.id)
  ) then
    perform private.refuse_field('areaId', 'area_invalid');
  end if;
end
$$;

create function private.check_organisation_fields(fields jsonb) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  -- The maximum length of each field.
  known constant jsonb := '{"nameAr":120,"nameEn":120,"licenceNo":40,"licenceExpiresOn":10,'
    '"aboutAr":4000,"phone":20,"whatsapp":20,"email":254,"website":300,"governorateId":60,'
    '"areaId":60,"addressAr":300,"workingHours":300,"logoMediaId":36,"coverMediaId":36}';
  problems jsonb;
begin
  if jsonb_typeof(fields) is distinct from 'object' then
    perform private.refuse_field('', 'invalid');
  end if;
  select jsonb_agg(private.field_problem(
    left(given.key, 100), wrong.code, most => (known -> given.key)::integer))
  into problems
  from jsonb_each(fields) as given
  cross join lateral (select case
    when not known ? given.key then 'unknown'
    when jsonb_typeof(given.value) not in ('string', 'null') then 'invalid'
    when private.text_problem(given.value #>> '{}', (known -> given.key)::integer) is not null
      then private.text_problem(given.value #>> '{}', (known -> given.key)::integer)
    -- Postgres would also accept 'infinity' and 'tomorrow' as dates.
    when given.key = 'licenceExpiresOn' and not coalesce(
      given.value #>> '{}' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
        and pg_input_is_valid(given.value #>> '{}', 'date'), true) then 'invalid'
    when given.key in ('logoMediaId', 'coverMediaId')
      and not coalesce(pg_input_is_valid(given.value #>> '{}', 'uuid'), true) then 'invalid'
    when given.key in ('aboutAr', 'website') and char_length(given.value #>> '{}')
      > (known -> given.key)::integer then 'too_long'
  end) as wrong (code)
  where wrong.code is not null;
  if problems is not null then
    perform private.refuse_fields(problems);
  end if;
end
$$;

create function private.organisation_with(fields jsonb, organisation public.organisations)
  returns public.organisations
  language plpgsql stable set search_path = ''
as $$
begin
  fields := private.given_fields(fields, '{nameEn,aboutAr,phone,whatsapp,email,website,'
    'governorateId,areaId,addressAr,workingHours,logoMediaId,coverMediaId}');
  perform private.check_organisation_fields(fields);
  perform private.check_new_name(
    given.path, private.visible_line(fields ->> given.path, 120, given.path), given.before, false)
  from (values ('nameAr', organisation.name_ar), ('nameEn', organisation.name_en))
    as given (path, before)
  where fields ? given.path;
  if fields ? 'nameAr' then
    organisation.name_ar := private.visible_line(fields ->> 'nameAr', 120, 'nameAr');
  end if;
  if fields ? 'nameEn' then
    organisation.name_en := private.visible_line(fields ->> 'nameEn', 120, 'nameEn');
  end if;
  if fields ? 'licenceNo' then
    organisation.licence_no := upper(private.typed(fields ->> 'licenceNo', 40, 'licenceNo'));
  end if;
  if fields ? 'licenceExpiresOn' then
    organisation.licence_expires_on := (fields ->> 'licenceExpiresOn')::date;
  end if;
  if fields ? 'aboutAr' then
    organisation.about_ar := private.normal_form(fields ->> 'aboutAr', 'nfc', 4000, 'aboutAr');
  end if;
  if fields ? 'phone' then
    organisation.phone := private.office_phone(private.typed(fields ->> 'phone', 20, 'phone'));
  end if;
  if fields ? 'whatsapp' then
    organisation.whatsapp := private.office_phone(private.typed(
      fields ->> 'whatsapp', 20, 'whatsapp'));
  end if;
  if fields ? 'email' then
    organisation.email := private.typed(fields ->> 'email', 254, 'email');
  end if;
  if fields ? 'website' then organisation.website := fields ->> 'website'; end if;
  if fields ? 'governorateId' then organisation.governorate_id := fields ->> 'governorateId'; end if;
  if fields ? 'areaId' then organisation.area_id := fields ->> 'areaId'; end if;
  if fields ? 'addressAr' then
    organisation.address_ar := private.tidy(fields ->> 'addressAr', 300, 'addressAr', 'nfc');
  end if;
  if fields ? 'workingHours' then
    organisation.working_hours := private.tidy(
      fields ->> 'workingHours', 300, 'workingHours', 'nfc');
  end if;
  return organisation;
end
$$;
comment on function private.organisation_with is
  'The page with the given fields changed. Absent fields are kept, and null clears a field.';

create function private.page_with_changes(organisation public.organisations, changes jsonb)
  returns public.organisations
  language plpgsql stable set search_path = ''
as $$
begin
  organisation.name_ar := coalesce(changes ->> 'nameAr', organisation.name_ar);
  if changes ? 'nameEn' then organisation.name_en := changes ->> 'nameEn'; end if;
  organisation.licence_no := coalesce(changes ->> 'licenceNo', organisation.licence_no);
  organisation.licence_expires_on := coalesce(
    (changes ->> 'licenceExpiresOn')::date, organisation.licence_expires_on);
  return organisation;
end
$$;
comment on function private.page_with_changes is
  'The page as it will be after its pending changes are approved.';

create function private.changes_to_verify(
  before public.organisations, organisation public.organisations
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  if organisation.licence_expires_on > before.licence_expires_on
    and organisation.licence_expires_on
      > (now() at time zone 'Asia/Kuwait')::date + interval '5 years' then
    perform private.refuse_field('licenceExpiresOn', 'too_big');
  end if;
  return (
    select jsonb_object_agg(change.path, change.value)
    from (values
      ('nameAr', to_jsonb(organisation.name_ar), organisation.name_ar <> before.name_ar),
      ('nameEn', to_jsonb(organisation.name_en),
        organisation.name_en is distinct from before.name_en),
      ('licenceNo', to_jsonb(organisation.licence_no),
        organisation.licence_no <> before.licence_no),
      ('licenceExpiresOn', to_jsonb(organisation.licence_expires_on),
        organisation.licence_expires_on > before.licence_expires_on)
    ) as change (path, value, waits)
    where change.waits
  );
end
$$;
comment on function private.changes_to_verify is
  'The differences between before and organisation that an admin has to approve; null if there are '
  'none.';
