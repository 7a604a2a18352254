-- What is ours on Supabase's own tables. A script that may run twice.

-- The trigger functions run with their owner's rights and take nothing from the caller.
create or replace trigger on_auth_user_created
  after insert on auth.users
  for each row execute function private.on_auth_user_created();
create or replace trigger on_auth_user_changed
  after update of email, phone on auth.users
  for each row execute function private.on_auth_user_changed();
create or replace trigger bound_user_metadata
  before update of raw_user_meta_data on auth.users
  for each row execute function private.bound_user_metadata();
create or replace trigger on_auth_user_deleted
  after delete on auth.users
  for each row execute function private.on_auth_user_deleted();

-- Whoever proves an email by a provider owns the account that has it.
create or replace trigger on_auth_identity_linked
  after insert or update of identity_data on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.on_auth_identity_linked();

-- A changed password is told, whoever changed it; not the random one that a takeover leaves, which a
-- trigger writes. Auth writes the columns of its pending codes with every new password, and
-- encrypted_password alone where the password stays what it was and only its hash is written anew.
create or replace trigger on_password_changed_at_auth
  after update of reauthentication_token on auth.users
  for each row when (
    old.encrypted_password is distinct from new.encrypted_password
    and current_user = 'supabase_auth_admin' and pg_trigger_depth() = 0
  )
  execute function private.on_password_changed();
create or replace trigger on_password_changed_elsewhere
  after update of encrypted_password on auth.users
  for each row when (
    old.encrypted_password is distinct from new.encrypted_password
    and current_user <> 'supabase_auth_admin' and pg_trigger_depth() = 0
  )
  execute function private.on_password_changed();

-- A sign-in is told to its account; the devices of a session end with it.
create or replace trigger on_session_begun
  after insert on auth.sessions
  for each row execute function private.on_session_begun();
create or replace trigger on_session_ended_for_devices
  after delete on auth.sessions
  for each row execute function private.on_session_ended();

-- No policy on storage.objects and storage.buckets is ours, and so nothing is open there: clients
-- neither write, list nor sign. Pictures are read by their public address, which skips policies;
-- the functions store and remove them with the secret key.

-- Who was signed in hears no more once the session is gone.
create or replace trigger on_sessions_ended
  after delete on auth.sessions
  referencing old table as gone
  for each statement execute function private.on_sessions_ended();

-- Realtime asks these when somebody joins a private channel and when they first send to it.
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
