create table private.session_proofs (
  session_id uuid primary key,
  hash bytea not null,
  way text not null
    constraint session_proofs_way_is_known
    check (way in ('password', 'code', 'provider', 'passkey')),
  made_at timestamptz not null default clock_timestamp()
);
comment on table private.session_proofs is
  'The last proof of each session: an administrator gets one by re-authenticating, and it is valid '
  'for ten minutes. Cleaned by private.on_session_ended.';
comment on column private.session_proofs.hash is
  'The SHA-256 hash of the proof, a secret that the client sends in X-Proof.';
comment on column private.session_proofs.way is
  'How the administrator re-authenticated: by password, code or passkey. A recent sign-in with a '
  'provider counts too, once per session (private.may_prove_by_provider).';
alter table private.session_proofs enable row level security;
create policy "nobody but functions of their owner" on private.session_proofs using (false);
