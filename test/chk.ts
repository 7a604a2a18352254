/**
 * Views in schema chk: our tables by the names that the checks of invariants.ts read. Made in a
 * transaction that is rolled back, never by a migration. Areas that do not exist yet are empty.
 */
export const chk = `
create schema chk;
create view chk.exposed_schema as select unnest(array['api', 'public']) as name;
create view chk.own_schema as select unnest(array['api', 'private', 'public']) as name;
create view chk.reviewed_function as select null::text as signature where false;
create view chk.auth_user as select id, email, phone, created_at from auth.users;
create view chk.session as select id, user_id, created_at from auth.sessions;
create view chk.account as
  select id, email, phone, status, created_at from public.accounts;
create view chk.profile as select account_id from public.individual_profiles;
create view chk.identity as
  select id, account_id, type, status, display_name from public.identities;
create view chk.active_identity as
  select id as account_id, active_identity_id as identity_id from public.accounts;
create view chk.property as
  select id, owner_identity_id, type, kind as category, area_m2 as area, title_ar as title, price,
    property_income, status, created_at, deleted_at
  from public.properties;
create view chk.review as
  select id, author_identity_id, subject_identity_id as subject_id from public.reviews;
create view chk.device as select push_token as token, account_id, session_id from public.devices;
create view chk.favorite as select identity_id, property_id from public.favorites;
create view chk.conversation as select id, pair_key from public.conversations;
create view chk.participant as
  select conversation_id, account_id, unread, last_read_seq from public.participants;
create view chk.message as
  select id, conversation_id, sender_account_id as sender_id, client_message_id as client_id, seq,
    body, created_at
  from public.messages;
create view chk.invoice as select null::uuid as id, null::numeric as amount where false;
create view chk.entry as select null::uuid as id, null::numeric as amount where false;
`
