-- Acts by a row: what an admin does in Studio by adding a row to admin_acts, with every effect of the
-- route. 2_rules_acts.sql says what a row needs, 5_writes_acts.sql carries it out.

create table public.admin_act_kinds (
  act text primary key,
  target text not null constraint admin_act_kinds_target_is_known
    check (target in ('account', 'identity', 'listing', 'message', 'report', 'invoice', 'payout')),
  required text[] not null,
  optional text[] not null,
  needs text not null,
  undone_by text not null
);
comment on table public.admin_act_kinds is
  'The acts that a row of admin_acts can be, and what each needs. Stays: a row an act.';
comment on column public.admin_act_kinds.target is 'What it is done to.';
comment on column public.admin_act_kinds.required is 'Columns that have to be filled in.';
comment on column public.admin_act_kinds.optional is 'Columns that may be; all others stay empty.';
comment on column public.admin_act_kinds.needs is 'The same in words.';
comment on column public.admin_act_kinds.undone_by is
  'The act that undoes it, or why nothing does.';
alter table public.admin_act_kinds enable row level security;
revoke all on public.admin_act_kinds from anon, authenticated, service_role;
create policy "nobody but functions of their owner" on public.admin_act_kinds using (false);

create table public.admin_acts (
  id uuid primary key default gen_random_uuid(),
  act text not null references public.admin_act_kinds (act),
  "by" text,
  target text not null,
  amount text,
  "to" text,
  value text,
  until text,
  version text,
  reason text,
  note text,
  state text not null default 'done'
    constraint admin_acts_state_is_known check (state in ('done', 'waiting', 'refused')),
  result text,
  account_id uuid,
  created_at timestamptz not null default clock_timestamp(),
  done_at timestamptz
);
comment on table public.admin_acts is
  'Add a row, and the act is done: choose act, type what admin_act_kinds.needs says of it, and leave '
  'id, state, result, account_id, created_at and done_at empty. What cannot be done is refused with a '
  'sentence, and no row is kept. Stays: it is the record of what was done.';
comment on column public.admin_acts.act is 'One of admin_act_kinds.';
comment on column public.admin_acts."by" is
  'You: your account of admins, as phone, email or id; the audit trail has it as said. Needed where more '
  'than one administrator''s account is in order. Kept is its id.';
comment on column public.admin_acts.target is
  'What it is done to, typed as it is known: a phone, email, «KW-102061», INV-2026-000123, licence '
  'number or id. Kept is the id of what was found.';
comment on column public.admin_acts.amount is
  'Of a refund, in dinars: 4.500 or ٤٫٥٠٠; empty is all that is left. 1,250 is refused: it is 1250 or '
  '1.250.';
comment on column public.admin_acts."to" is 'Of a refund: wallet or source.';
comment on column public.admin_acts.value is
  'Of set_identifier, the new phone or email. Nothing of it is kept.';
comment on column public.admin_acts.until is
  'Of suspend_account: day/month/year, as 31/1/2027, with a time of Kuwait if you like, as 31/1/2027 14:30; '
  'empty is for good.';
comment on column public.admin_acts.version is
  'What admin_listings_to_review or admin_identities_to_verify shows: another by then is refused.';
comment on column public.admin_acts.reason is 'Why, as the person reads it; in the audit trail.';
comment on column public.admin_acts.note is
  'For administrators only; goes with the account that the act is about.';
comment on column public.admin_acts.state is
  'done; waiting for the payment provider to answer; refused by it.';
comment on column public.admin_acts.result is 'What became of it.';
comment on column public.admin_acts.account_id is 'Whom it is about.';
create index admin_acts_target_idx on public.admin_acts (target, created_at);
create index admin_acts_account_idx on public.admin_acts (account_id) where note is not null;
create index admin_acts_waiting_idx on public.admin_acts (created_at) where state = 'waiting';
create index admin_acts_act_idx on public.admin_acts (act);
alter table public.admin_acts enable row level security;
revoke all on public.admin_acts from anon, authenticated, service_role;
create policy "nobody but functions of their owner" on public.admin_acts using (false);
