-- An act is a row that an administrator adds to admin_acts, usually in Studio. It does the same as an API
-- call: 2_rules_acts.sql checks the row, 5_writes_acts.sql executes it.

create table public.admin_act_kinds (
  act text primary key,
  target text not null constraint admin_act_kinds_target_is_known
    check (target in (
      'account', 'identity', 'listing', 'duplicate', 'message', 'report', 'invoice', 'payout'
    )),
  required text[] not null,
  optional text[] not null,
  needs text not null,
  undone_by text not null
);
comment on table public.admin_act_kinds is
  'The kinds of acts that admin_acts accepts, and the columns that each requires. Never purged: '
  'one row per kind.';
comment on column public.admin_act_kinds.required is 'Columns that must be filled in.';
comment on column public.admin_act_kinds.optional is 'Further columns that may be filled in.';
comment on column public.admin_act_kinds.needs is
  'The required and optional columns in words, for error messages.';
comment on column public.admin_act_kinds.undone_by is
  'The act that reverses this one, or the reason why no act can.';
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
  everywhere boolean,
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
  'Adding a row executes the act. Choose act, fill in the columns that admin_act_kinds.needs '
  'names, and leave id, state, result, account_id, created_at and done_at empty. An act that is '
  'not possible is refused with an explanation and not stored. Never purged: it is the record of '
  'all acts.';
comment on column public.admin_acts.act is 'A key of admin_act_kinds.';
comment on column public.admin_acts."by" is
  'Your own phone, email or id. Required if more than one administrator can act.';
comment on column public.admin_acts.target is
  'A phone, email, listing number («KW-102061»), invoice number (INV-2026-000123), licence number '
  'or id. Stored as the id.';
comment on column public.admin_acts.amount is
  'For a refund: dinars, such as 4.500 or ٤٫٥٠٠. If empty, everything that is left is refunded. '
  '1,250 is refused because it is ambiguous.';
comment on column public.admin_acts."to" is
  'For a refund: wallet, or source for the original means of payment.';
comment on column public.admin_acts.value is
  'For set_identifier, the new phone or email; it is not stored.';
comment on column public.admin_acts.until is
  'For suspend_account: 31/1/2027, or 31/1/2027 14:30 in Kuwait time. If empty, the suspension has '
  'no end.';
comment on column public.admin_acts.version is
  'The version shown in admin_listings_to_review or admin_identities_to_verify. An outdated one is '
  'refused.';
comment on column public.admin_acts.everywhere is
  'For a message with a picture: hides all messages of its sender with the same picture.';
comment on column public.admin_acts.reason is
  'Shown to the person concerned, and kept in the audit trail.';
comment on column public.admin_acts.note is 'For administrators; deleted with the account.';
comment on column public.admin_acts.state is
  'done, waiting (for a payment provider) or refused (by the provider).';
comment on column public.admin_acts.account_id is 'The account that the act is about.';
create index admin_acts_target_idx on public.admin_acts (target, created_at);
create index admin_acts_account_idx on public.admin_acts (account_id) where note is not null;
create index admin_acts_waiting_idx on public.admin_acts (created_at) where state = 'waiting';
create index admin_acts_act_idx on public.admin_acts (act);
alter table public.admin_acts enable row level security;
revoke all on public.admin_acts from anon, authenticated, service_role;
create policy "nobody but functions of their owner" on public.admin_acts using (false);
