-- What happens in other areas and somebody should hear of: triggers on their tables.
--
-- What concerns one account is told at once. What concerns everybody who saved a listing is only
-- noted here and spread by a job (13_notifications/7_jobs.sql): an owner does not wait for 10,000.

create table private.news (
  id bigint generated always as identity primary key,
  kind text not null constraint news_kind_is_known
    check (kind in ('favorite_price_drop', 'favorite_unavailable', 'security_login')),
  -- No foreign key: to check it a sign-in would wait for whoever changes the table of listings.
  property_id uuid,
  account_id uuid references public.accounts (id) on delete cascade,
  session_id uuid,
  facts jsonb not null default '{}',
  reached uuid,
  told_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  constraint news_is_about_one_thing check (num_nonnulls(property_id, session_id) = 1)
);
comment on table private.news is 'What a job still has to tell to whom it concerns.';
comment on column private.news.id is 'Order of the news.';
comment on column private.news.kind is 'The kind of notification that it becomes.';
comment on column private.news.property_id is 'Which listing; told to everybody who saved it.';
comment on column private.news.account_id is 'Of a sign-in: whose.';
comment on column private.news.session_id is 'Of a sign-in: which session.';
comment on column private.news.facts is 'What the texts need; of a sign-in: from where it came.';
comment on column private.news.reached is 'Identities up to this one have been told.';
comment on column private.news.told_at is
  'When everybody had been told; kept for a day, so that the same is not told twice a day.';
comment on column private.news.created_at is 'When it happened.';
create index news_waiting_idx on private.news (id) where told_at is null;
create index news_property_idx on private.news (property_id, kind, id);
create index news_account_idx on private.news (account_id);
create index news_session_idx on private.news (session_id) where session_id is not null;
create index news_told_idx on private.news (told_at) where told_at is not null;
alter table private.news enable row level security;
create policy "nobody but functions of their owner" on private.news using (false);

-- Listings ---------------------------------------------------------------------------------------

create function private.note_for_savers() returns trigger
  language plpgsql
  security definer -- writes a closed table, for whoever changed the listing
  set search_path = ''
as $$
begin
  if new.favorites_count = 0 then
    return null;
  end if;
  if new.status = old.status then
    insert into private.news (kind, property_id, facts)
    values ('favorite_price_drop', new.id, jsonb_build_object('before', old.price));
  else
    insert into private.news (kind, property_id) values ('favorite_unavailable', new.id);
  end if;
  return null;
end
$$;
comment on function private.note_for_savers is
  'One row, however many saved the listing: its price fell, or it cannot be had any more.';

create trigger properties_price_falls_for_savers
  after update of price, status on public.properties
  for each row when (
    old.status = 'active' and new.status = 'active' and new.price < old.price
    or old.status = 'active' and new.status <> 'active'
  )
  execute function private.note_for_savers();

create function private.tell_listing_owner(
  property public.properties, kind text, facts jsonb
) returns void
  language plpgsql
  security definer -- finds the account behind an identity
  set search_path = ''
as $$
begin
  perform private.notify(identities.account_id, identities.id, tell_listing_owner.kind, property.id,
    jsonb_build_object('titleAr', property.title_ar, 'titleEn', property.title_en)
      || tell_listing_owner.facts)
  from public.identities where identities.id = property.owner_identity_id;
end
$$;
comment on function private.tell_listing_owner is
  'Tells the owner of a listing something about it.';

create function private.on_listing_decided() returns trigger
  language plpgsql
  security definer -- tells the owner, whoever decided
  set search_path = ''
as $$
begin
  perform private.tell_listing_owner(new,
    case new.status when 'active' then 'listing_approved' else 'listing_rejected' end,
    jsonb_build_object('reason', new.status_reason));
  return null;
end
$$;
comment on function private.on_listing_decided is 'An admin approved or rejected a listing.';

create trigger properties_decisions_are_told
  after update of status on public.properties
  for each row when (
    old.status = 'pending_review' and new.status in ('active', 'rejected')
  )
  execute function private.on_listing_decided();

create function private.on_lead() returns trigger
  language plpgsql
  security definer -- tells the owner, whoever asked
  set search_path = ''
as $$
begin
  perform private.tell_listing_owner(properties, 'lead_new', jsonb_build_object('way', new.kind))
  from public.properties where properties.id = new.property_id;
  return null;
end
$$;
comment on function private.on_lead is 'Somebody asked for the contact of a listing.';

create trigger leads_are_told
  after insert on public.leads
  for each row execute function private.on_lead();

-- Identities and sign-ins ------------------------------------------------------------------------

create function private.on_identity_decided() returns trigger
  language plpgsql
  security definer -- tells the account, whoever decided
  set search_path = ''
as $$
begin
  perform private.notify(new.account_id, new.id,
    case new.status when 'active' then 'identity_verified' else 'identity_rejected' end, new.id,
    jsonb_build_object('name', new.display_name, 'reason', new.status_reason));
  return null;
end
$$;
comment on function private.on_identity_decided is 'An admin verified or rejected an identity.';

create trigger identities_decisions_are_told
  after update of status on public.identities
  for each row when (
    old.status = 'pending_verification' and new.status in ('active', 'rejected')
  )
  execute function private.on_identity_decided();

create function private.on_session_begun() returns trigger
  language plpgsql
  security definer -- writes a closed table, for Auth's role
  set search_path = ''
as $$
declare
  place jsonb := jsonb_build_object(
    'address', host(new.ip), 'device', left(new.user_agent, 200));
begin
  -- The first sign-in is the person who has just registered: kept as told. Whoever comes from the
  -- same place within a quarter of an hour is that person again.
  insert into private.news (kind, account_id, session_id, facts, told_at)
  select 'security_login', accounts.id, new.id, place,
    case when users.last_sign_in_at is null then clock_timestamp() end
  from auth.users
  join public.accounts on accounts.id = users.id
  where users.id = new.user_id and not exists (
    select from private.news as first
    where first.account_id = users.id and first.kind = 'security_login'
      and first.told_at > clock_timestamp() - interval '15 minutes' and first.facts = place
  );
  return null;
exception
  -- Nobody is kept out because the notice of it failed.
  when others then
    raise warning 'sign-in of % was not noted: % %', new.user_id, sqlstate, sqlerrm;
    return null;
end
$$;
comment on function private.on_session_begun is 'Notes a sign-in; the trigger is in 90_platform.sql.';

create function private.on_password_changed() returns trigger
  language plpgsql
  security definer -- tells the account, whoever changed it
  set search_path = ''
as $$
begin
  perform private.notify(
    new.id, null, 'security_password', null, jsonb_build_object('at', clock_timestamp()));
  return null;
end
$$;
comment on function private.on_password_changed is
  'A new password is told to its account; the triggers are in 90_platform.sql.';

create function private.on_session_ended() returns trigger
  language plpgsql
  security definer -- writes a closed table, for Auth's role
  set search_path = ''
as $$
begin
  -- Before its devices is locked what else will be: of who is deleted all that goes, else the account,
  -- whose channel gets another name when all sessions of the statement are gone (10_chat/6_events_realtime.sql).
  if exists (select from auth.users where users.id = old.user_id) then
    perform private.take_account(old.user_id);
  else
    perform private.take_what_follows(old.user_id, array(
      select identities.id from public.identities where identities.account_id = old.user_id
    ), true);
  end if;
  delete from public.devices where devices.session_id = old.id;
  return null;
end
$$;
comment on function private.on_session_ended is
  'Signed out is no push: the devices of the session go. The trigger is in 90_platform.sql.';

-- Accounts that go -------------------------------------------------------------------------------

create function private.forget_notifications() returns trigger
  language plpgsql
  security definer -- deletes rows of whoever is going
  set search_path = ''
as $$
begin
  delete from private.news where news.account_id = new.id;
  delete from public.devices where devices.account_id = new.id;
  delete from public.notifications where notifications.account_id = new.id;
  delete from public.account_settings where account_settings.account_id = new.id;
  return null;
end
$$;
comment on function private.forget_notifications is
  'A deleted account has no notifications, devices or settings.';

create trigger accounts_forget_their_notifications
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_notifications();

create function private.forget_words() returns trigger
  language plpgsql
  security definer -- deletes rows of whoever was told
  set search_path = ''
as $$
begin
  delete from public.notifications where notifications.from_identity_id = new.id;
  delete from private.push_outbox where push_outbox.from_identity_id = new.id;
  return null;
end
$$;
comment on function private.forget_words is
  'What an identity wrote or offered goes from the notifications of others when it is closed.';

create trigger identities_forget_their_words
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.forget_words();

revoke execute on all functions in schema private from public;
