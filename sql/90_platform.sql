-- Triggers and policies on Supabase's tables (for Auth's: docs/auth.md). The script may run twice.

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

-- Triggers fire in order of their names, so this one runs after on_auth_identity_linked. Both lock
-- the user before the account, as a sign-in does.
create or replace trigger on_new_provider
  after insert on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.notify_of_new_provider();

-- The trigger depends only on the protected column, because hosted projects get new versions of Auth
-- automatically, and a version that writes passwords differently must be checked, too.
create or replace trigger check_password_at_auth
  before update of encrypted_password on auth.users
  -- At a takeover a trigger writes a random password, at depth 1, which is not checked.
  for each row when (
    old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
  )
  execute function private.check_password_at_auth();
-- When Auth changes a password, the same statement also clears reauthentication_token, but not when
-- Auth re-encrypts a hash. If a version stops clearing it, the trigger above still checks.
create or replace trigger check_password_change_at_auth
  before update of reauthentication_token on auth.users
  for each row when (
    old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
  )
  execute function private.check_password_at_auth('change');
create or replace trigger check_contact_at_auth
  before update of email, phone on auth.users
  for each row execute function private.check_contact_at_auth();

-- Constraint triggers cannot be replaced, so they are dropped and created again in one statement.
do $$
begin
  -- Earlier versions had two triggers for passwords.
  drop trigger if exists on_password_changed_at_auth on auth.users;
  drop trigger if exists on_password_changed_elsewhere on auth.users;
  -- This trigger runs at the commit, because notifying locks devices, and Auth first has to end
  -- sessions, which are locked before devices. A takeover's random password does not fire it.
  drop trigger if exists on_password_changed on auth.users;
  create constraint trigger on_password_changed
    after update of encrypted_password on auth.users deferrable initially deferred
    for each row when (
      old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
    )
    execute function private.on_password_changed();
  -- If a refresh token (version 1) is reused, Auth revokes the other tokens of the session, but the
  -- newest one would still work for ten seconds, so the session is ended.
  drop trigger if exists on_refresh_token_revoked on auth.refresh_tokens;
  create constraint trigger on_refresh_token_revoked
    after update of revoked on auth.refresh_tokens deferrable initially deferred
    for each row when (new.revoked and not old.revoked)
    execute function private.on_refresh_token_revoked();
end
$$;

-- A change of email is exempt, because Auth's hook refuses it, and its row is then rolled back.
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

-- storage.objects and storage.buckets have no policy, so clients cannot write or list files, or
-- sign links to them. Pictures are read by their public URL, which bypasses policies.

create or replace trigger on_sessions_ended
  after delete on auth.sessions
  referencing old table as gone
  for each statement execute function private.on_sessions_ended();

-- Realtime checks these policies when a client joins a private channel or first sends to it.
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
