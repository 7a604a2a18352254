-- Our triggers and policies on Supabase's own tables. A script that may run twice.

-- The trigger functions run with their owner's rights and take nothing from the caller.
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
  before update of raw_user_meta_data, email on auth.users
  for each row execute function private.bound_user_metadata();
create or replace trigger on_auth_user_deleted
  after delete on auth.users
  for each row execute function private.on_auth_user_deleted();

-- A provider comes only through the facade, and says nothing about somebody else's email.
create or replace trigger check_auth_identity
  before insert or update of identity_data on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.check_auth_identity();
-- Whoever proves an email by a provider gets the account that has it.
create or replace trigger on_auth_identity_linked
  after insert or update of identity_data on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.on_auth_identity_linked();

create or replace trigger tell_of_new_provider
  after insert on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.tell_of_new_provider();

-- Auth writes no password, email or phone of its own accord. The triggers watch the columns that they
-- protect and no others: hosted projects get new versions of Auth unasked, and one that writes a password
-- in another way has to pass here too.
create or replace trigger check_password_at_auth
  before update of encrypted_password on auth.users
  -- The random one of a takeover is written by a trigger, in Auth's own transaction.
  for each row when (
    old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
  )
  execute function private.check_password_at_auth();
-- A change of the password ends what was begun with the old one in the same statement, which encrypting a
-- hash again does not. An Auth that stops doing so is still watched by the trigger above.
create or replace trigger check_password_change_at_auth
  before update of reauthentication_token on auth.users
  for each row when (
    old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
  )
  execute function private.check_password_at_auth('change');
create or replace trigger check_contact_at_auth
  before update of email, phone on auth.users
  for each row execute function private.check_contact_at_auth();

-- Constraint triggers cannot be replaced. They are taken away, which the platform lets postgres do on
-- these tables, and made anew in one statement, so that a change of their conditions reaches every project.
do $$
begin
  -- Earlier versions had two for passwords.
  drop trigger if exists on_password_changed_at_auth on auth.users;
  drop trigger if exists on_password_changed_elsewhere on auth.users;
  -- The account is notified of a new password, whoever set it, but not of the random one of a takeover,
  -- which a trigger writes. At the commit: pushes lock devices, which come after the sessions that Auth
  -- ends meanwhile.
  drop trigger if exists on_password_changed on auth.users;
  create constraint trigger on_password_changed
    after update of encrypted_password on auth.users deferrable initially deferred
    for each row when (
      old.encrypted_password is distinct from new.encrypted_password and pg_trigger_depth() = 0
    )
    execute function private.on_password_changed();
  -- Reuse of a refresh token that is a row (version 1) revokes the others, of which the newest would work
  -- on for ten seconds: the session ends.
  drop trigger if exists on_refresh_token_revoked on auth.refresh_tokens;
  create constraint trigger on_refresh_token_revoked
    after update of revoked on auth.refresh_tokens deferrable initially deferred
    for each row when (new.revoked and not old.revoked)
    execute function private.on_refresh_token_revoked();
end
$$;

-- What an admin does under Authentication.
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

-- The account is notified of a sign-in; the devices of a session end with it.
create or replace trigger on_session_begun
  after insert on auth.sessions
  for each row execute function private.on_session_begun();
create or replace trigger on_session_ended_for_devices
  after delete on auth.sessions
  for each row execute function private.on_session_ended();

-- There is no policy on storage.objects and storage.buckets, so clients neither write, list nor sign.
-- Pictures are read by their public address, which skips policies; the functions store and remove
-- them with the secret key, and read documents by it.

-- Realtime stops for whoever was signed in once the session is gone.
create or replace trigger on_sessions_ended
  after delete on auth.sessions
  referencing old table as gone
  for each statement execute function private.on_sessions_ended();

-- Realtime checks these when somebody joins a private channel and when they first send to it.
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
