-- Triggers and policies on tables that belong to Supabase (docs/auth.md explains those on Auth's tables).
-- The script can be run repeatedly.

create or replace trigger on_auth_user_created
  after insert on auth.users
  for each row execute function private.on_auth_user_created();
create or replace trigger on_auth_user_changed
  after update of email, phone on auth.users
  for each row execute function private.on_auth_user_changed();
create or replace trigger on_auth_user_signed_in
  after update of last_sign_in_at on auth.users
  for each row when (old.last_sign_in_at is distinct from new.last_sign_in_at)
  execute function private.on_auth_user_signed_in();
create or replace trigger bound_user_metadata
  before insert or update of raw_user_meta_data, email on auth.users
  for each row execute function private.bound_user_metadata();
create or replace trigger on_auth_user_deleted
  after delete on auth.users
  for each row execute function private.on_auth_user_deleted();

create or replace trigger check_auth_identity
  before insert or update of identity_data on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.check_auth_identity();
create or replace trigger on_auth_identity_linked
  after insert or update of identity_data on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.on_auth_identity_linked();

-- Triggers fire in the order of their names, so this one runs after on_auth_identity_linked. Both lock the
-- user before the account, in the same order as a sign-in.
create or replace trigger on_new_provider
  after insert on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.notify_of_new_provider();

-- The trigger depends only on the protected column. Hosted projects get new versions of Auth automatically,
-- and it must also catch a version that writes passwords in another way.
create or replace trigger check_password_at_auth
  before update of encrypted_password on auth.users
  -- When an account is taken over, a trigger writes a random password. That write has trigger depth 1 and is
  -- not checked.
  for each row when (
    old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
  )
  execute function private.check_password_at_auth();
-- When Auth changes a password, it clears reauthentication_token in the same statement; when it re-encrypts
-- a hash, it does not. If a version of Auth stops clearing the token, the trigger above still checks the
-- password.
create or replace trigger check_password_change_at_auth
  before update of reauthentication_token on auth.users
  for each row when (
    old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
  )
  execute function private.check_password_at_auth('change');
create or replace trigger check_contact_at_auth
  before update of email, phone on auth.users
  for each row execute function private.check_contact_at_auth();

-- "create or replace" does not support constraint triggers, so they are dropped and created again in one
-- statement.
do $$
begin
  -- Earlier versions had two triggers for passwords.
  drop trigger if exists on_password_changed_at_auth on auth.users;
  drop trigger if exists on_password_changed_elsewhere on auth.users;
  -- Deferred to the commit: notifying locks devices, but Auth first has to delete sessions, which are locked
  -- before devices. The random password of a takeover does not fire it.
  drop trigger if exists on_password_changed on auth.users;
  create constraint trigger on_password_changed
    after update of encrypted_password on auth.users deferrable initially deferred
    for each row when (
      old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
    )
    execute function private.on_password_changed();
  -- If a refresh token (version 1) is reused, Auth revokes the other tokens of the session. The newest token
  -- would still work for ten seconds, so this trigger ends the session.
  drop trigger if exists on_refresh_token_revoked on auth.refresh_tokens;
  create constraint trigger on_refresh_token_revoked
    after update of revoked on auth.refresh_tokens deferrable initially deferred
    for each row when (new.revoked and not old.revoked)
    execute function private.on_refresh_token_revoked();
end
$$;

-- A change of email is exempt: Auth's hook refuses it anyway, and the row is rolled back.
create or replace trigger refuse_redirect
  before insert on auth.flow_state
  for each row when (new.authentication_method is distinct from 'email_change')
  execute function private.refuse_redirect();

create or replace trigger refuse_ban
  before update of banned_until on auth.users
  for each row when (
    new.banned_until > now() and new.banned_until is distinct from old.banned_until
  )
  execute function private.refuse_ban();
create or replace trigger confirm_new_user
  before insert on auth.users
  for each row when (new.raw_app_meta_data ->> 'provider' in ('email', 'phone'))
  execute function private.confirm_new_user();

create or replace trigger on_session_begun
  after insert on auth.sessions
  for each row execute function private.on_session_begun();
create or replace trigger bound_user_agent
  before insert or update of user_agent on auth.sessions
  for each row when (char_length(new.user_agent) > 200)
  execute function private.bound_user_agent();
create or replace trigger on_session_ended_for_devices
  after delete on auth.sessions
  for each row execute function private.on_session_ended();

-- storage.objects and storage.buckets have no policies, so clients cannot write files, list them or create
-- signed URLs. Pictures are read by their public URLs, which bypass policies.

create or replace trigger on_sessions_ended
  after delete on auth.sessions
  referencing old table as gone
  for each statement execute function private.on_sessions_ended();

-- Realtime checks these policies when a client joins a private channel, and when it first sends to one.
drop policy if exists "people hear their own channels" on realtime.messages;
create policy "people hear their own channels" on realtime.messages for select to authenticated
  using (
    topic = (select realtime.topic()) and private.may_hear((select realtime.topic()), extension)
  );
drop policy if exists "people speak on live channels only" on realtime.messages;
create policy "people speak on live channels only" on realtime.messages for insert to authenticated
  with check (
    topic = (select realtime.topic()) and private.may_speak((select realtime.topic()), extension)
  );
