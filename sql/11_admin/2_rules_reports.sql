create function private.require_reportable(
  target_type text, target_id uuid, viewer_identity_id uuid,
  out author_id uuid, out conversation_id uuid
)
  language plpgsql stable
  security definer -- reads other people's data, to decide whether the caller may see it
  set search_path = ''
as $$
begin
  case target_type
    when 'property' then
      select properties.owner_identity_id into author_id from public.properties
      where properties.id = target_id and (
        private.may_see(properties, viewer_identity_id)
        or exists (
          select from public.leads
          where leads.property_id = target_id and leads.identity_id = viewer_identity_id
        )
        or exists (
          select from public.conversations
          join public.participants on participants.conversation_id = conversations.id
          where conversations.property_id = target_id
            and participants.identity_id = viewer_identity_id
        )
      );
      if author_id is null then
        perform private.refuse(404, 'property_not_found');
      end if;
    when 'identity' then
      if not private.is_publicly_visible(target_id) and not exists (
        select from public.participants as own
        join public.participants as others on others.conversation_id = own.conversation_id
        where own.identity_id = viewer_identity_id and others.identity_id = target_id
      ) and not exists (
        select from public.leads
        where (leads.identity_id, leads.owner_identity_id)
          in ((viewer_identity_id, target_id), (target_id, viewer_identity_id))
      ) and not exists (
        select from public.reviews
        where (reviews.author_identity_id, reviews.subject_identity_id)
          in ((viewer_identity_id, target_id), (target_id, viewer_identity_id))
      ) then
        perform private.refuse(404, 'identity_not_found');
      end if;
      author_id := target_id;
    when 'message' then
      select messages.sender_identity_id, messages.conversation_id into author_id, conversation_id
      from public.participants
      join public.messages on messages.conversation_id = participants.conversation_id
        and messages.id = target_id
      where participants.identity_id = viewer_identity_id
        and private.may_hear_conversation(participants.conversation_id, viewer_identity_id);
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
    perform private.refuse_field('targetId', 'invalid'); -- people cannot report their own content
  end if;
end
$$;
comment on function private.require_reportable is
  'Refuses a target that the caller owns or cannot see. Even if no longer visible, an identity can '
  'be reported by anybody who shares a conversation, lead or review with it, and a listing by '
  'anybody who asked or talked about it. Returns the identity responsible for the target and, for '
  'a message, its conversation.';

create function private.listing_fields(property public.properties) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(field.name, case field.form
    when 'location' then jsonb_strip_nulls(jsonb_build_object(
      'lat', property.lat, 'lng', property.lng, 'precision', property.location_precision))
    when 'number' then to_jsonb(trim_scale(
      (to_jsonb(property) ->> private.column_of(field.name))::numeric))
    else to_jsonb(property) -> private.column_of(field.name)
  end)
  from private.property_fields() as field
$$;
comment on function private.listing_fields is
  'All fields of a listing by name, including those that its record hides from others.';

create function private.reported_content(report public.reports) returns jsonb
  language plpgsql stable
  security definer -- reads other people's data, to keep it or show it to administrators
  set search_path = ''
as $$
declare
  fields jsonb;
  pictures uuid[];
begin
  case report.target_type
    when 'property' then
      select private.listing_fields(properties) into fields from public.properties
      where properties.id = report.target_id;
      pictures := private.shown_pictures(report.target_id);
    when 'identity' then
      select to_jsonb(page) into fields
      from (
        select organisations.name_ar as "nameAr", organisations.name_en as "nameEn",
          organisations.about_ar as "aboutAr", organisations.phone, organisations.whatsapp,
          organisations.email, organisations.website, organisations.address_ar as "addressAr",
          organisations.licence_no as "licenceNo"
        from (select) as one
        left join public.organisations
          on organisations.identity_id = report.reported_identity_id
      ) as page;
      pictures := array(
        select media.id from public.media
        where media.identity_id = report.reported_identity_id
          and media.use in ('avatar', 'logo', 'cover')
        order by media.use, media.id
      );
    when 'message' then
      select
        jsonb_build_object('type', messages.type,
          'body', case when report.part is null then messages.body end),
        array(
          select media.id from public.media
          where media.id = messages.media_id and media.discarded_at is null
        )
      into fields, pictures
      from public.messages
      where messages.conversation_id = report.conversation_id and messages.id = report.target_id;
    else
      select jsonb_build_object('rating', reviews.rating, 'comment', reviews.comment) into fields
      from public.reviews where reviews.id = report.target_id;
  end case;
  return (
    select jsonb_build_object('displayName', identities.display_name,
      'fields', jsonb_strip_nulls(fields), 'pictures', to_jsonb(coalesce(pictures, '{}')))
    from public.identities
    where identities.id = report.reported_identity_id and fields is not null
  );
end
$$;
comment on function private.reported_content is
  'The current content of the report''s target, with the ids of its pictures; null if it is gone.';

create function private.shown_content(content jsonb) returns jsonb
  language plpgsql stable
  security definer -- reads other people's pictures, for administrators and their owner
  set search_path = ''
as $$
begin
  return content || (
    select jsonb_build_object('pictures', coalesce(jsonb_agg(jsonb_build_object(
      'id', media.id, 'url', case media.bucket when 'suspended' then '/admin/pictures/' || media.id
        else private.media_url(media.bucket, media.name) end
    ) order by listed.ordinal), '[]'))
    from jsonb_array_elements_text(content -> 'pictures') with ordinality as listed (id, ordinal)
    join public.media on media.id = listed.id::uuid and media.removed_at is null
  );
end
$$;
comment on function private.shown_content is
  'Replaces each picture''s id with its id and URL (for a suspended picture, the path for admins). '
  'Pictures that were removed are left out.';

create function private.on_report_decided() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if old.status <> 'open' then
    perform private.refuse_by_hand(
      'A report that was decided stays so: restore the listing or show the review itself.');
  elsif new.status = 'upheld' and private.tidy(new.status_reason, 2000, 'status_reason') is null then
    perform private.refuse_by_hand(
      'Say why in status_reason, first or in the same change: whom it is about reads it.');
  end if;
  new.decided_at := now();
  if exists (
    select from public.identities
    join public.accounts on accounts.id = identities.account_id
    where identities.id = new.reported_identity_id and accounts.status = 'deleted'
  ) then
    new.stored_content := null;
  end if;
  return new;
end
$$;
comment on function private.on_report_decided is
  'Refuses to decide a report a second time, or to uphold it without a reason. If the reported '
  'account is deleted, removes the copy of the content, which was kept only for the decision.';

create trigger reports_are_decided_once
  before update of status on public.reports
  for each row when (old.status <> new.status)
  execute function private.on_report_decided();

create function private.keep_reported_listing() returns trigger
  language plpgsql
  security definer -- reads reports that the owner of the listing cannot see
  set search_path = ''
as $$
begin
  if exists (
    select from public.reports
    where reports.target_type = 'property' and reports.target_id = new.id
      and reports.status = 'open'
  ) then
    perform private.refuse_action(old);
  end if;
  return new;
end
$$;
comment on function private.keep_reported_listing is
  'Refuses to move a listing to another identity while a report about it is open.';
create trigger properties_stay_while_reported
  before update of owner_identity_id on public.properties
  for each row when (new.owner_identity_id <> old.owner_identity_id)
  execute function private.keep_reported_listing();
comment on trigger properties_stay_while_reported on public.properties is
  'The order among the table''s triggers does not matter.';
