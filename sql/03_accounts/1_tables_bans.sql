create table private.banned_contacts (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  value text,
  hash bytea constraint banned_contacts_hash_key unique,
  banned_at timestamptz not null default clock_timestamp(),
  constraint banned_contacts_are_hashed_or_wait check (num_nonnulls(value, hash) = 1)
);
comment on table private.banned_contacts is
  'Proven phones and emails of banned accounts. Nobody can register with them for a year, even '
  'after the account is deleted. If a row is deleted, its contact can be used again. Cleaned by '
  'private.purge_banned_contacts.';
-- Not a foreign key, because the row outlives the account.
comment on column private.banned_contacts.account_id is 'The banned account.';
comment on column private.banned_contacts.value is
  'The phone or email, until a job replaces it with its hash a few seconds later.';
comment on column private.banned_contacts.hash is
  'A keyed hash of the phone or email. Only the edge functions have the key.';
create index banned_contacts_account_idx on private.banned_contacts (account_id);
create index banned_contacts_value_idx on private.banned_contacts (value) where value is not null;
create index banned_contacts_banned_idx on private.banned_contacts (banned_at);
alter table private.banned_contacts enable row level security;
create policy "nobody but functions of their owner" on private.banned_contacts using (false);
