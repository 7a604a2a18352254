-- A form sends the version of the row that it showed. If the row has changed since, nothing is saved.

create function private.admin_plan_json(plan public.plans) returns jsonb
  language sql stable
  return private.plan_record(plan)::jsonb || jsonb_build_object(
    'onSale', plan.on_sale, 'version', private.row_version(to_jsonb(plan)));

create function private.list_admin_plans() returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.require_admin();
  return json_build_object('items', (
    select json_agg(private.admin_plan_json(plans) order by plans.position, plans.code)
    from public.plans
  ), 'nextCursor', null);
end
$$;
comment on function private.list_admin_plans is
  'Api: For admins: all plans, including those that are not on sale. 403 admin_only.';

create function private.change_plan(
  plan_id uuid, version integer, name_ar text default null, name_en text default null,
  price numeric default null, interval_days integer default null,
  active_listings integer default null, listing_days integer default null,
  photos_per_listing integer default null, featured_credits integer default null,
  on_sale boolean default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  plan public.plans;
  changed public.plans;
  before jsonb;
  after jsonb;
begin
  perform private.require_admin();
  perform private.require_admin_proof();
  perform private.refuse_fields((
    select coalesce(jsonb_agg(private.field_problem(path, problem, 2, 120)), '[]')
    from (values
      ('nameAr', case when not private.is_name(name_ar)
        then coalesce(private.length_problem(name_ar, 2, 120), 'invalid') end),
      ('nameEn', case when not private.is_name(name_en)
        then coalesce(private.length_problem(name_en, 2, 120), 'invalid') end),
      ('price', case when price <> round(price, 3) then 'invalid' end)
    ) as rule (path, problem)
    where problem is not null
  ));
  select * into plan from public.plans where plans.id = plan_id for no key update;
  if plan.id is null then
    perform private.refuse(404, 'plan_not_found');
  elsif private.row_version(to_jsonb(plan)) is distinct from version then
    perform private.refuse(409, 'version_conflict');
  end if;
  changed := plan;
  changed.name_ar := coalesce(name_ar, plan.name_ar);
  changed.name_en := coalesce(name_en, plan.name_en);
  changed.price := coalesce(price, plan.price);
  changed.interval_days := coalesce(interval_days, plan.interval_days);
  changed.active_listings := coalesce(active_listings, plan.active_listings);
  changed.listing_days := coalesce(listing_days, plan.listing_days);
  changed.photos_per_listing := coalesce(photos_per_listing, plan.photos_per_listing);
  changed.featured_credits := coalesce(featured_credits, plan.featured_credits);
  changed.on_sale := coalesce(on_sale, plan.on_sale);
  select jsonb_object_agg(field.key, field.value),
    jsonb_object_agg(field.key, to_jsonb(changed) -> field.key)
  into before, after
  from jsonb_each(to_jsonb(plan)) as field
  where field.value <> to_jsonb(changed) -> field.key;
  if before is not null then
    perform private.audit('plan.changed', 'plan', plan.id, null,
      before || jsonb_build_object('code', plan.code), after || jsonb_build_object('code', plan.code));
    update public.plans
    set name_ar = changed.name_ar, name_en = changed.name_en, price = changed.price,
        interval_days = changed.interval_days, active_listings = changed.active_listings,
        listing_days = changed.listing_days, photos_per_listing = changed.photos_per_listing,
        featured_credits = changed.featured_credits, on_sale = changed.on_sale
    where plans.id = plan.id
    returning * into plan;
  end if;
  return private.admin_plan_json(plan);
end
$$;
comment on function private.change_plan is
  'Facade: for admins: changes the given fields of a plan. version: the version of the plan '
  'that the admin saw.';

create function private.setting_json(setting private.settings) returns json
  language sql stable
  return json_build_object(
    'name', setting.name, 'value', setting.value::text, 'note', setting.note,
    'version', private.row_version(setting.value));

create function private.is_for_admins(setting private.settings) returns boolean
  language sql immutable
  return setting.name <> all ('{files_url,share_url,codes_are_sent}'::text[]);
comment on function private.is_for_admins is
  'Whether admins may change this setting. The other settings are written by edge functions.';

create function private.list_admin_settings() returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.require_admin();
  return json_build_object('items', (
    select json_agg(private.setting_json(settings) order by settings.name)
    from private.settings where private.is_for_admins(settings)
  ), 'nextCursor', null);
end
$$;
comment on function private.list_admin_settings is
  'Api: For admins: the settings that admins change, as JSON text. 403 admin_only.';

create function private.change_setting(name text, version integer, value text) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  setting private.settings;
begin
  perform private.require_admin();
  perform private.require_admin_proof();
  if pg_input_is_valid(private.bounded(value, 20000, 'value'), 'jsonb') is not true then
    perform private.refuse_value('value', value);
  end if;
  select * into setting from private.settings
  where settings.name = change_setting.name and private.is_for_admins(settings)
  for no key update;
  if setting.name is null then
    perform private.refuse(404, 'not_found');
  elsif private.row_version(setting.value) is distinct from version then
    perform private.refuse(409, 'version_conflict');
  elsif setting.value <> value::jsonb then
    perform private.audit('setting.changed', 'setting', null, null,
      jsonb_build_object('name', setting.name, 'value', setting.value),
      jsonb_build_object('name', setting.name, 'value', value::jsonb));
    begin
      update private.settings set value = change_setting.value::jsonb
      where settings.name = setting.name
      returning * into setting;
    exception when check_violation then
      perform private.refuse_field('value', 'invalid');
    end;
  end if;
  return private.setting_json(setting);
end
$$;
comment on function private.change_setting is
  'Facade: for admins: changes a setting. version: the version of the value that the admin saw.';

grant execute on function
  private.list_admin_plans, private.change_plan, private.list_admin_settings,
  private.change_setting
  to authenticated;
