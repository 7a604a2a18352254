-- A row is inserted after its file was stored (5_writes_uploads.sql) and deleted after its file was
-- removed (7_jobs.sql). Only the edge functions write to Storage, under names that cannot be guessed or
-- listed. Anyone who has the URL of a picture can see it, even while its listing is hidden, until the
-- picture, listing or account is deleted or suspended. Caches drop it within a day after that.

create table public.media (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  identity_id uuid not null,
  bucket text not null constraint media_bucket_is_known
    check (bucket in ('avatars', 'listings', 'suspended')),
  name text not null constraint media_name_is_ours
    check (name ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/[0-9a-f-]{36}\.(jpg|png|webp)$'),
  width integer not null,
  height integer not null,
  orientation smallint not null
    constraint media_orientation_range check (orientation between 1 and 8),
  bytes integer not null constraint media_bytes_are_there check (bytes > 0),
  sha256 text not null constraint media_sha256_form check (sha256 ~ '^[0-9a-f]{64}$'),
  use text constraint media_use_is_known
    check (use in ('listing', 'avatar', 'logo', 'cover', 'message')),
  property_id uuid references public.properties (id),
  upload_session_id uuid,
  position integer constraint media_position_range check (position between 0 and 99999),
  pending boolean not null default false,
  created_at timestamptz not null default now(),
  discarded_at timestamptz,
  removal_due_at timestamptz not null default '-infinity',
  removed_at timestamptz,
  constraint media_identity_is_of_account
    foreign key (account_id, identity_id) references public.identities (account_id, id),
  constraint media_one_row_a_file unique (bucket, name),
  constraint media_size_is_that_of_a_picture check (
    width between 1 and 65535 and height between 1 and 65535
    and width::bigint * height <= 50000000
  ),
  constraint media_listing_is_named check (
    (use is not distinct from 'listing') = (property_id is not null)
    and (property_id is null or position is not null)
  ),
  constraint media_discarded_is_unused check (discarded_at is null or use is null),
  constraint media_pending_is_of_a_listing check (not pending or property_id is not null),
  -- A deferrable constraint is checked at the end of a statement, so that one statement can reorder all
  -- pictures.
  constraint media_positions_are_distinct unique (property_id, position) deferrable
);
comment on table public.media is 'Pictures and their use. Cleaned by private.files_to_remove.';
comment on column public.media.identity_id is
  'The identity that uses the picture or, if it is not used yet, the identity that uploaded it.';
comment on column public.media.bucket is
  'The bucket of the file. It is suspended while an administrator has suspended its listing or '
  'owner.';
comment on column public.media.name is
  'The name of the file: the id of the identity that uploaded it, a slash and a random name.';
comment on column public.media.orientation is
  'The EXIF orientation. Clients must apply it themselves.';
comment on column public.media.sha256 is
  'The hash of the file as the client sent it. It identifies repeated uploads.';
comment on column public.media.use is 'Null if the picture is not used yet, or no longer used.';
comment on column public.media.upload_session_id is 'Groups the pictures of a new listing.';
comment on column public.media.pending is
  'Whether the picture is hidden until an admin approves it.';
comment on column public.media.discarded_at is
  'When the picture was discarded. A job then removes the file.';
comment on column public.media.removal_due_at is 'When a job next tries to remove the file.';
comment on column public.media.removed_at is
  'When the file was removed, if the row is kept because a message refers to it.';
create index media_identity_idx on public.media (identity_id, upload_session_id);
create index media_account_idx on public.media (account_id, identity_id);
create index media_unused_idx on public.media (account_id)
  where use is null and discarded_at is null;
create index media_unused_alone_idx on public.media (created_at)
  where use is null and discarded_at is null and upload_session_id is null;
create index media_discarded_idx on public.media (removal_due_at, discarded_at)
  where discarded_at is not null and removed_at is null;

create table private.uploads (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  bucket text not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now() + interval '1 hour'
);
comment on table private.uploads is
  'Uploads that have begun and are not finished. Cleaned by private.files_to_remove.';
comment on column private.uploads.id is
  'The names of the files are this id, with its last two digits replaced by the number of the '
  'file.';
comment on column private.uploads.created_at is
  'When the upload began. It takes less than five minutes.';
comment on column private.uploads.due_at is
  'When a job removes the files for which no row was inserted.';
create index uploads_account_idx on private.uploads (account_id);
create index uploads_identity_idx on private.uploads (identity_id);
create index uploads_due_idx on private.uploads (due_at);

create table private.upload_sessions (
  identity_id uuid not null references public.identities (id) on delete cascade,
  id uuid not null,
  property_id uuid references public.properties (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '7 days',
  ended boolean not null default false,
  primary key (identity_id, id)
);
comment on table private.upload_sessions is
  'Groups the uploads for a listing before the listing is created. Cleaned by '
  'private.files_to_remove.';
comment on column private.upload_sessions.identity_id is
  'The identity that uploads. Two identities may use the same id for different sessions.';
comment on column private.upload_sessions.expires_at is
  'Seven days after the last upload, but at most 14 days after the first one.';
comment on column private.upload_sessions.ended is
  'Whether a job has discarded the unused pictures of the session. The row is kept for 30 more '
  'days, so that further uploads are refused and no listing is created without the earlier '
  'pictures.';
create index upload_sessions_property_idx on private.upload_sessions (property_id);
create index upload_sessions_expires_idx on private.upload_sessions (ended, expires_at);

create table private.file_moves (
  id bigint generated always as identity primary key,
  property_id uuid, -- no foreign keys: a job deletes rows whose listing or identity is gone
  identity_id uuid,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  constraint file_moves_have_one_subject check (num_nonnulls(property_id, identity_id) = 1)
);
comment on table private.file_moves is
  'A queue of listings and identities that were suspended or restored and whose files must be '
  'moved. Cleaned by private.files_to_move.';
comment on column private.file_moves.due_at is 'When a job next moves the files.';
create index file_moves_due_idx on private.file_moves (due_at, id);
alter table private.file_moves enable row level security;
create policy "nobody but functions of their owner" on private.file_moves using (false);

alter table public.media enable row level security;
alter table private.uploads enable row level security;
alter table private.upload_sessions enable row level security;
revoke all on public.media from anon, authenticated;
grant select on public.media to authenticated, acting;
grant insert, update on public.media to acting;
grant select, insert, update (due_at) on private.uploads to acting;
grant select, insert, update (property_id, expires_at) on private.upload_sessions to acting;
-- Rows must match the stored files, so only functions that check both may write them.
revoke insert, update, delete, truncate on public.media from service_role;

create policy "identities see their own pictures" on public.media for select to authenticated
  using (identity_id = (select private.identity_id()));
-- This includes all identities of the account, because a page may be edited while another identity acts.
create policy "people see and change the pictures of their own identities" on public.media to acting
  using (account_id = (select private.account_id()));
create policy "people begin and end their own uploads" on private.uploads to acting
  using (account_id = (select private.account_id()))
  with check (account_id = (select private.account_id()) and exists (
    select from public.identities
    where identities.id = uploads.identity_id and identities.account_id = uploads.account_id
  ));
create policy "identities use their own sessions" on private.upload_sessions to acting
  using (identity_id = (select private.identity_id()));

create table private.media_scans (
  bucket text primary key,
  after_name text not null default '',
  began_at timestamptz not null default now(),
  files bigint not null default 0,
  files_without_row bigint not null default 0,
  rows_without_file bigint not null default 0,
  last_ended_at timestamptz,
  last_files bigint,
  last_files_without_row bigint,
  last_rows_without_file bigint
);
comment on table private.media_scans is
  'The progress of private.reconcile_media. Never purged: one row per bucket.';
comment on column private.media_scans.files_without_row is
  'How many new stray files the current scan has found: files over an hour old without a row.';
comment on column private.media_scans.last_files_without_row is
  'The result of the last complete scan. It should be 0.';
comment on column private.media_scans.last_rows_without_file is
  'The result of the last complete scan. It should be 0.';

create table private.stray_files (
  bucket text not null,
  name text not null,
  found_at timestamptz not null default now(),
  removal_due_at timestamptz not null default '-infinity',
  primary key (bucket, name)
);
comment on table private.stray_files is 'Files without a row. Cleaned by private.files_to_remove.';
create index stray_files_due_idx on private.stray_files (removal_due_at);

alter table private.media_scans enable row level security;
alter table private.stray_files enable row level security;
create policy "nobody but functions of their owner" on private.media_scans using (false);
create policy "nobody but functions of their owner" on private.stray_files using (false);
