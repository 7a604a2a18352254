create function private.follow_numbers(account_id uuid) returns void
  language plpgsql
  security definer -- locks and writes all listings of the account, and their stored records
  set search_path = ''
as $$
declare
  identity_ids constant uuid[] := array(
    select identities.id from public.identities
    where identities.account_id = follow_numbers.account_id
  );
  owner record;
begin
  -- Publishing locks the account too, so no new listing can be written with the old numbers.
  perform private.lock_account_exclusively(account_id);
  perform from public.properties where properties.owner_identity_id = any (identity_ids)
  order by properties.id for no key update;
  for owner in
    with switched as (
      update public.properties set allow_chat = true, version = properties.version + 1
      where properties.owner_identity_id = any (identity_ids)
        and properties.status = 'active' and not properties.allow_chat
        and (private.contact_of(properties)).ways = '{}'
      returning properties.owner_identity_id, properties.ref_no
    )
    select switched.owner_identity_id as id, array_agg(switched.ref_no order by switched.ref_no)
      as ref_nos
    from switched group by switched.owner_identity_id
  loop
    perform private.notify_of_chat(owner.id, owner.ref_nos);
  end loop;
  perform private.write_listed_records(array(
    select properties.id from public.properties
    where properties.owner_identity_id = any (identity_ids) and properties.listed
      and (properties.allow_call or properties.allow_whatsapp)
  ));
end
$$;
comment on function private.follow_numbers is
  'Switches chat on for listings that have no other way of contact left, and rewrites the stored '
  'records.';

create function private.on_account_number() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  perform private.follow_numbers(new.id);
  return null;
end
$$;
comment on function private.on_account_number is
  'Updates the ways of contact when an account gets or loses its number.';

create trigger accounts_tell_listings_of_their_number
  after update of phone on public.accounts
  for each row when ((old.phone is null) <> (new.phone is null) and new.status <> 'deleted')
  execute function private.on_account_number();

create function private.on_number_shown() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  perform private.follow_numbers(new.account_id);
  return null;
end
$$;
comment on function private.on_number_shown is
  'Updates the ways of contact when an account shows or hides its number.';

create trigger account_settings_show_the_number_on_insert
  after insert on public.account_settings
  for each row when (not new.show_phone)
  execute function private.on_number_shown();
create trigger account_settings_show_the_number
  after update of show_phone on public.account_settings
  for each row when (old.show_phone <> new.show_phone)
  execute function private.on_number_shown();

create function private.on_organisation_number() returns trigger
  language plpgsql
  security definer -- reads the account of an identity
  set search_path = ''
as $$
begin
  perform private.follow_numbers(identities.account_id)
  from public.identities where identities.id = new.identity_id;
  return null;
end
$$;
comment on function private.on_organisation_number is
  'Updates the ways of contact when a company or office adds or removes a number.';

create trigger organisations_tell_listings_of_their_numbers
  after update of phone, whatsapp on public.organisations
  for each row when (
    (old.phone is null, old.whatsapp is null) is distinct from (new.phone is null, new.whatsapp is null)
  )
  execute function private.on_organisation_number();
