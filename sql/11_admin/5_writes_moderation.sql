-- What waits for an admin: listings handed in for review, changes of listings that are out, reports.
-- And what an admin does about them: a listing is approved, rejected, suspended, restored; a report is
-- upheld, which takes its listing or review away, or dismissed.
--
-- Whether listings are looked at before everybody sees them is the setting review_listings.

-- The oldest first, without reading the many that wait for nothing.
create index properties_await_review_idx on public.properties (created_at, id)
  where status = 'pending_review' or pending_changes is not null;

-- As private.may_act (03_accounts/1_tables.sql) without a search_path: the index above serves what asks this.
create function private.awaits_review(property public.properties) returns boolean
  language sql
  immutable
  parallel safe
  return (
    (awaits_review.property).status = 'pending_review'
    or (awaits_review.property).pending_changes is not null
  ) and (awaits_review.property).status not in ('deleted', 'suspended');
comment on function private.awaits_review is
  'Whether a listing, or a change of one that is out, waits for an admin.';

create function private.property_decisions(property public.properties) returns text[]
  language sql
  immutable
  set search_path = ''
as $$
  select array_remove(array[
    case when property.status = 'pending_review' or property.pending_changes is not null
      then 'approve' end,
    case when property.status = 'pending_review' or property.pending_changes is not null
      then 'reject' end,
    case when property.status = 'suspended' then 'restore' end,
    case when property.status not in ('suspended', 'deleted') then 'suspend' end
  ], null)
$$;
comment on function private.property_decisions is 'What an admin can decide about a listing now.';

create function private.reported(report public.reports) returns json
  language plpgsql
  stable
  security definer -- reads what belongs to others; its caller asked for an admin before
  set search_path = ''
as $$
begin
  if report.id is null then
    return null;
  end if;
  return json_build_object(
    'targetType', report.target_type,
    'targetId', report.target_id,
    'reason', report.reason,
    'note', report.note,
    'reporter', (
      select json_build_object(
        'accountId', identities.account_id,
        'identityId', identities.id,
        'displayName', identities.display_name)
      from public.identities where identities.id = report.identity_id
    ),
    -- Whom it is about, and what there is to see of it.
    'target', case report.target_type
      when 'property' then (
        select json_build_object(
          'accountId', identities.account_id, 'identityId', identities.id,
          'displayName', identities.display_name, 'status', properties.status,
          'text', properties.title_ar)
        from public.properties
        join public.identities on identities.id = properties.owner_identity_id
        where properties.id = report.target_id
      )
      when 'identity' then (
        select json_build_object(
          'accountId', identities.account_id, 'identityId', identities.id,
          'displayName', identities.display_name, 'status', identities.status, 'text', null)
        from public.identities where identities.id = report.target_id
      )
      when 'message' then (
        select json_build_object(
          'accountId', identities.account_id, 'identityId', identities.id,
          'displayName', identities.display_name, 'status', null, 'text', messages.body)
        from public.messages
        join public.identities on identities.id = messages.sender_identity_id
        where messages.id = report.target_id
      )
      else (
        select json_build_object(
          'accountId', identities.account_id, 'identityId', identities.id,
          'displayName', identities.display_name,
          'status', case when reviews.hidden_at is null then 'shown' else 'hidden' end,
          'text', reviews.comment)
        from public.reviews
        join public.identities on identities.id = reviews.author_identity_id
        where reviews.id = report.target_id
      )
    end
  );
end
$$;
comment on function private.reported is 'A report as admins see it: by whom, about what and whom.';

create function private.list_moderation(kind text, page_cursor text, page_size integer)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- reads listings of others, for an admin
  set search_path = ''
  set plan_cache_mode = 'force_custom_plan' -- a kind that is not asked for costs nothing
as $$
declare
  query text := concat_ws(' ', 'list_moderation', private.require_admin(), kind);
  key jsonb := private.cursor_key(query, page_cursor);
  after_at timestamptz := coalesce(key ->> 0, '-infinity');
  after_id uuid := coalesce(key ->> 1, '00000000-0000-0000-0000-000000000000');
begin
  if kind not in ('listing', 'changes', 'report') then
    perform private.refuse_fields('[{"path":"kind","code":"invalid"}]');
  end if;
  return query
  with page as materialized (
    select
      waiting.*,
      row_number() over (order by waiting.since, waiting.id) as place
    from (
      (
        select properties.id, properties.created_at as since,
          case properties.status when 'pending_review' then 'listing' else 'changes' end as kind
        from public.properties
        where private.awaits_review(properties)
          and (properties.created_at, properties.id) > (after_at, after_id)
          and (list_moderation.kind is null or list_moderation.kind =
            case properties.status when 'pending_review' then 'listing' else 'changes' end)
        order by properties.created_at, properties.id
        limit private.page_size(page_size) + 1
      ) union all (
        select reports.id, reports.created_at, 'report'
        from public.reports
        where reports.status = 'open'
          and (reports.created_at, reports.id) > (after_at, after_id)
          and (list_moderation.kind is null or list_moderation.kind = 'report')
        order by reports.created_at, reports.id
        limit page_size + 1
      )
    ) as waiting
    order by waiting.since, waiting.id
    limit page_size + 1
  )
  select
    coalesce(json_agg(json_build_object(
      'id', page.id,
      'kind', page.kind,
      'since', page.since,
      'decisions', case page.kind
        when 'report' then array['uphold', 'dismiss'] else private.property_decisions(properties)
      end,
      'listing', records.record,
      'changes', properties.pending_changes,
      'report', private.reported(reports)
    ) order by page.place) filter (where page.place <= page_size), '[]'),
    case when count(*) > page_size then (
      select private.cursor_of(query, jsonb_build_array(page.since, page.id))
      from page where page.place = page_size
    ) end
  from page
  left join public.properties on properties.id = page.id
  left join private.property_records(array(select page.id from page), null) as records
    on records.id = page.id
  left join public.reports on reports.id = page.id;
end
$$;
comment on function private.list_moderation is 'A page of what waits; see api.list_moderation.';

create function api.list_moderation(
  kind text default null, page_cursor text default null, page_size integer default 20
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select waiting.items, waiting."nextCursor"
  from private.list_moderation(kind, page_cursor, page_size) as waiting;
end
$$;
comment on function api.list_moderation is
  'For admins: what waits for a decision, the oldest first, with the decisions that are open. 403 '
  'admin_only.';

create function private.decide_about_property(
  property public.properties, decision text, reason text
) returns json
  language plpgsql
  security definer -- writes a listing of another, for an admin
  set search_path = ''
as $$
begin
  if not decision = any (private.property_decisions(property)) then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', property.status, 'allowed', private.property_decisions(property)));
  end if;
  perform private.audit('property.' || decision, 'property', property.id, reason,
    jsonb_build_object('status', property.status), null);
  case decision
    when 'approve' then perform private.decide_property(property.id, true, reason);
    when 'reject' then perform private.decide_property(property.id, false, reason);
    when 'suspend' then perform private.suspend_property(property.id, reason);
    else perform private.lift_suspension(property.id);
  end case;
  return (
    select json_build_object(
      'id', properties.id,
      'kind', 'listing',
      'status', properties.status,
      'decisions', private.property_decisions(properties))
    from public.properties where properties.id = property.id
  );
end
$$;
comment on function private.decide_about_property is
  'Carries out a decision about a listing; what it calls locks it, after the quota of its owner.';

create function private.decide_about_report(report public.reports, decision text, reason text)
  returns json
  language plpgsql
  security definer -- writes what belongs to another, for an admin
  set search_path = ''
as $$
declare
  outcome constant text := case decision when 'uphold' then 'upheld' else 'dismissed' end;
begin
  if report.status <> 'open' or decision not in ('uphold', 'dismiss') then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', report.status,
      'allowed', case report.status when 'open' then '["uphold","dismiss"]' else '[]' end::jsonb));
  end if;
  perform private.audit('report.status', 'report', report.id, reason,
    jsonb_build_object('status', report.status), jsonb_build_object('status', outcome));
  update public.reports set status = outcome, status_reason = decide_about_report.reason
  where reports.id = report.id;
  return json_build_object('id', report.id, 'kind', 'report', 'status', outcome,
    'decisions', '[]'::json);
end
$$;
comment on function private.decide_about_report is
  'Decides about a report that its caller has locked; what follows is the trigger''s.';

create function private.enter_report_state() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if old.status <> 'open' then
    perform private.refuse_by_hand(
      'A report that was decided stays so: restore the listing or show the review itself.');
  elsif new.status = 'upheld' and private.tidy(new.status_reason) is null then
    perform private.refuse_by_hand(
      'Say why in status_reason, in the same change: whom it is about reads it.');
  end if;
  new.decided_at := now();
  return new;
end
$$;
comment on function private.enter_report_state is 'A report is decided once, and upheld for a reason.';

create trigger reports_abide_by_their_state
  before update of status on public.reports
  for each row when (old.status <> new.status)
  execute function private.enter_report_state();

create function private.carry_out_report() returns trigger
  language plpgsql
  security definer -- writes what belongs to another, for whoever decided
  set search_path = ''
as $$
begin
  if new.status = 'upheld' and new.target_type = 'property' then
    perform private.audit('property.suspend', 'property', properties.id, new.status_reason,
        jsonb_build_object('status', properties.status)),
      private.suspend_property(properties.id, new.status_reason)
    from public.properties
    where properties.id = new.target_id
      and 'suspend' = any (private.property_decisions(properties));
  elsif new.status = 'upheld' and new.target_type = 'review' then
    perform private.audit('review.hidden', 'review', new.target_id, new.status_reason);
    update public.reviews set hidden_at = now()
    where reviews.id = new.target_id and reviews.hidden_at is null;
  end if;
  -- Whoever else reported the same is answered with it.
  update public.reports set status = new.status, status_reason = new.status_reason
  where reports.target_type = new.target_type and reports.target_id = new.target_id
    and reports.status = 'open';
  return null;
end
$$;
comment on function private.carry_out_report is
  'What follows when a report is decided, at the route or in Studio: all others of the same thing '
  'are, and upheld, a listing is suspended and a review hidden.';

create trigger reports_are_carried_out
  after update of status on public.reports
  for each row when (old.status <> new.status and pg_trigger_depth() = 0) -- the others follow
  execute function private.carry_out_report();

create function private.decide_moderation(id uuid, decision text, reason text) returns json
  language plpgsql
  security definer -- writes what belongs to another, for an admin
  set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  why text;
  property public.properties;
  report public.reports;
begin
  if decision is null
    or decision not in ('approve', 'reject', 'suspend', 'restore', 'uphold', 'dismiss') then
    perform private.refuse_fields('[{"path":"decision","code":"invalid"}]');
  end if;
  -- What is taken from somebody is explained; the rest may be.
  if reason is not null or decision in ('reject', 'suspend', 'uphold') then
    why := private.tidy_reason(reason);
  end if;
  select * into report from public.reports where reports.id = decide_moderation.id;
  if report.id is not null then
    -- All of the same thing at once: whoever decides about another of them waits here.
    perform from public.reports
    where reports.target_type = report.target_type and reports.target_id = report.target_id
    order by reports.id
    for no key update;
    select * into report from public.reports where reports.id = decide_moderation.id;
    if private.reported(report) -> 'target' ->> 'accountId' = admin_id::text then
      perform private.refuse(409, 'admin_self');
    end if;
    return private.decide_about_report(report, decision, why);
  end if;
  select * into property from public.properties
  where properties.id = decide_moderation.id and properties.status <> 'deleted';
  if property.id is null then
    perform private.refuse(404, 'not_found');
  elsif exists (
    select from public.identities
    where identities.id = property.owner_identity_id and identities.account_id = admin_id
  ) then
    perform private.refuse(409, 'admin_self');
  end if;
  return private.decide_about_property(property, decision, why);
end
$$;
comment on function private.decide_moderation is 'Carries out a decision; see the one of api.';

create function api.decide_moderation(id uuid, decision text, reason text default null)
  returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.decide_moderation(id, decision, reason);
end
$$;
comment on function api.decide_moderation is
  'For admins: approve or reject what waits, suspend a listing or restore it, uphold or dismiss a '
  'report. 403 admin_only, 404 not_found, 409 admin_self, status_transition_invalid.';

create function private.waiting_counts() returns json
  language plpgsql
  stable
  security definer -- counts what belongs to others; its caller asked for an admin before
  set search_path = ''
as $$
begin
  return json_build_object(
    'identities', (
      select count(*) from public.identities where identities.status = 'pending_verification'
    ),
    'listings', (
      select count(*) from public.properties
      where private.awaits_review(properties) and properties.status = 'pending_review'
    ),
    'changes', (
      select count(*) from public.properties
      where private.awaits_review(properties) and properties.status <> 'pending_review'
    ),
    'reports', (select count(*) from public.reports where reports.status = 'open')
  );
end
$$;
comment on function private.waiting_counts is 'How much waits for an admin, by kind.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.list_moderation, private.decide_moderation to authenticated;
-- For the view of Studio, which reads with the rights of whoever asks.
grant execute on function private.awaits_review to service_role;
grant execute on function api.list_moderation, api.decide_moderation to authenticated;
