-- The files are in a private bucket, for which no signed URLs are created. Owners and administrators
-- read the files through the facade, which first calls get_document or get_admin_document.

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  identity_id uuid not null,
  name text not null constraint documents_name_length check (char_length(name) <= 120),
  file text not null constraint documents_one_row_a_file unique
    constraint documents_file_is_ours
    check (file ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/[0-9a-f-]{36}\.(jpg|png|webp|pdf)$'),
  type text not null constraint documents_type_is_known
    check (type in ('image/jpeg', 'image/png', 'image/webp', 'application/pdf')),
  encrypted boolean not null default false,
  bytes integer not null constraint documents_bytes_are_there check (bytes > 0),
  sha256 text not null constraint documents_sha256_form check (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default now(),
  kept_until timestamptz not null default now() + interval '180 days',
  discarded_at timestamptz,
  removal_due_at timestamptz not null default '-infinity',
  constraint documents_identity_is_of_account
    foreign key (account_id, identity_id) references public.identities (account_id, id)
);
comment on table public.documents is
  'Licence documents of companies and offices. Cleaned by private.files_to_remove.';
comment on column public.documents.name is
  'The name that the owner gave the document; empty once it is discarded.';
comment on column public.documents.file is 'The name of the file in the bucket documents.';
comment on column public.documents.encrypted is
  'Whether the document is an encrypted PDF. If it has only an owner password, it can be opened '
  'without a password.';
comment on column public.documents.kept_until is
  '180 days after the upload or after the identity was closed, or 90 days after a decision of an '
  'admin.';
comment on column public.documents.discarded_at is
  'When the document was discarded. A job then removes the file.';
comment on column public.documents.removal_due_at is 'When a job next tries to remove the file.';
create index documents_identity_idx on public.documents (identity_id, created_at);
create index documents_account_idx on public.documents (account_id, identity_id);
create index documents_kept_until_idx on public.documents (kept_until) where discarded_at is null;
create index documents_discarded_idx on public.documents (removal_due_at)
  where discarded_at is not null;

alter table public.documents enable row level security;
revoke all on public.documents from anon, authenticated;
grant select on public.documents to authenticated, acting;
grant insert, update (discarded_at) on public.documents to acting;
-- Rows must match the stored files, so only functions that check both may write them.
revoke insert, update, delete, truncate on public.documents from service_role;
create policy "people see the documents of their own identities" on public.documents
  for select to authenticated, acting
  using (account_id = (select private.account_id()) and discarded_at is null);
create policy "people add documents of their own identities" on public.documents
  for insert to acting
  with check (account_id = (select private.account_id()));
create policy "people lock the documents of their own identities" on public.documents
  for update to acting
  using (account_id = (select private.account_id()));

create view private.file_rows with (security_invoker = true) as
  select media.bucket, media.name, media.discarded_at, media.removed_at from public.media
  union all
  select 'documents', documents.file, documents.discarded_at, null from public.documents;
comment on view private.file_rows is 'All rows that refer to a file in Storage.';
revoke all on private.file_rows from public, anon, authenticated, service_role;
