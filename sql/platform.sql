-- What is ours on Supabase's own tables. A script that may run twice.

-- The trigger functions run with their owner's rights and take nothing from the caller.
create or replace trigger on_auth_user_created
  after insert on auth.users
  for each row execute function private.on_auth_user_created();
create or replace trigger on_auth_user_changed
  after update of email, phone on auth.users
  for each row execute function private.on_auth_user_changed();
create or replace trigger on_auth_user_deleted
  after delete on auth.users
  for each row execute function private.on_auth_user_deleted();

-- Whoever proves an email by a provider owns the account that has it.
create or replace trigger on_auth_identity_linked
  after insert or update of identity_data on auth.identities
  for each row when (new.provider not in ('email', 'phone'))
  execute function private.on_auth_identity_linked();

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
