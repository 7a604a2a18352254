-- Proofs of administrators: who they are, proven once more for what cannot be taken back.

create table private.session_proofs (
  session_id uuid primary key,
  hash bytea not null,
  way text not null
    constraint session_proofs_way_is_known check (way in ('password', 'code', 'provider')),
  made_at timestamptz not null default clock_timestamp()
);
comment on table private.session_proofs is
  'The newest proof of an administrator in a session, good for ten minutes; gone with the session or the '
  'password. Cleaned by private.on_session_ended.';
comment on column private.session_proofs.hash is
  'SHA-256 of the proof, which is random: nobody who reads this has one.';
comment on column private.session_proofs.way is
  'By what it was made; a sign-in by a provider makes one alone.';
alter table private.session_proofs enable row level security;
create policy "nobody but functions of their owner" on private.session_proofs using (false);
