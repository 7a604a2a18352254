create table private.session_proofs (
  session_id uuid primary key,
  hash bytea not null,
  way text not null
    constraint session_proofs_way_is_known
    check (way in ('password', 'code', 'provider', 'passkey')),
  made_at timestamptz not null default clock_timestamp()
);
comment on table private.session_proofs is
  'The newest proof of identity that an administrator gave in a session, valid for ten minutes. '
  'Cleaned by private.on_session_ended.';
comment on column private.session_proofs.hash is 'The SHA-256 hash of the proof.';
comment on column private.session_proofs.way is
  'How it was proven: by password, by code, by passkey, or once by the sign-in with a provider.';
alter table private.session_proofs enable row level security;
create policy "nobody but functions of their owner" on private.session_proofs using (false);
