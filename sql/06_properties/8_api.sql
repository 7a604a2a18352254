-- What an owner does to a listing, as clients call it: one function for each action.

create function api.publish_property(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'publish')
$$;
comment on function api.publish_property is
  'Publishes a draft or a rejected listing, or submits it for review. 422 price_required and '
  'others.';

create function api.pause_property(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'pause')
$$;
comment on function api.pause_property is
  'Hides an active listing; the time that it has left is kept.';

create function api.resume_property(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'resume')
$$;
comment on function api.resume_property is
  'Shows a paused listing again, for the time that it had left.';

create function api.renew_property(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'renew')
$$;
comment on function api.renew_property is
  'Lists one that expired within 90 days again, for a new period.';

create function api.archive_property(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'archive')
$$;
comment on function api.archive_property is 'Puts a listing away; it can be restored.';

create function api.restore_property(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'restore')
$$;
comment on function api.restore_property is 'Makes an archived listing a draft again.';

create function api.mark_property_sold(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'mark-sold')
$$;
comment on function api.mark_property_sold is
  'Closes a listing for sale; it can be seen by link for 30 days.';

create function api.mark_property_rented(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'mark-rented')
$$;
comment on function api.mark_property_rented is
  'Closes a listing for rent; it can be seen by link for 30 days.';

create function api.mark_property_exchanged(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'mark-exchanged')
$$;
comment on function api.mark_property_exchanged is
  'Closes a listing for exchange; it can be seen by link for 30 days.';

create function api.confirm_property_available(property_id uuid) returns json
  language sql
  set search_path = ''
as $$
  select private.act_on_property(property_id, 'confirm-available')
$$;
comment on function api.confirm_property_available is
  'Confirms that an active listing is still available.';

create function api.delete_property(property_id uuid) returns void
  language sql
  set search_path = ''
as $$
  select private.count_action('listing_deletions');
  select private.delete_property(property_id);
$$;
comment on function api.delete_property is 'Deletes an own listing, whatever its state.';

grant execute on function
  api.publish_property, api.pause_property, api.resume_property, api.renew_property,
  api.archive_property, api.restore_property, api.mark_property_sold, api.mark_property_rented,
  api.mark_property_exchanged, api.confirm_property_available, api.delete_property
  to authenticated;
