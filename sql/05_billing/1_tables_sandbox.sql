-- The sandbox: a payment provider of our own for development, as if it were somebody else's.
--
-- Nothing here knows our invoices. The functions refuse to use it where ENVIRONMENT is production.

create table private.sandbox_charges (
  id text primary key default 'sbx_' || replace(gen_random_uuid()::text, '-', ''),
  reference text not null constraint sandbox_charges_reference_key unique,
  amount numeric not null,
  currency text not null,
  title text not null,
  return_url text not null,
  state text not null default 'pending'
    constraint sandbox_charges_state_is_known check (state in ('pending', 'paid', 'failed')),
  created_at timestamptz not null default now(),
  decided_at timestamptz
);
comment on table private.sandbox_charges is 'Charges at the sandbox.';
comment on column private.sandbox_charges.id is 'The sandbox''s own id.';
comment on column private.sandbox_charges.reference is
  'What the merchant calls it; asked again it is the same.';
comment on column private.sandbox_charges.amount is 'KWD.';
comment on column private.sandbox_charges.currency is 'KWD.';
comment on column private.sandbox_charges.title is 'What the page says it is for.';
comment on column private.sandbox_charges.return_url is 'Where the person goes afterwards.';
comment on column private.sandbox_charges.state is 'pending, paid or failed.';
comment on column private.sandbox_charges.created_at is 'When it was made.';
comment on column private.sandbox_charges.decided_at is 'When the person paid or failed.';
alter table private.sandbox_charges enable row level security;
create policy "nobody but functions of their owner" on private.sandbox_charges using (false);

create table private.sandbox_refunds (
  id text primary key default 'sbr_' || replace(gen_random_uuid()::text, '-', ''),
  charge_id text not null references private.sandbox_charges (id),
  reference text not null constraint sandbox_refunds_reference_key unique,
  amount numeric not null,
  created_at timestamptz not null default now()
);
comment on table private.sandbox_refunds is 'Refunds at the sandbox; each is done at once.';
comment on column private.sandbox_refunds.id is 'The sandbox''s own id.';
comment on column private.sandbox_refunds.charge_id is 'Of which charge.';
comment on column private.sandbox_refunds.reference is 'What the merchant calls it.';
comment on column private.sandbox_refunds.amount is 'KWD.';
comment on column private.sandbox_refunds.created_at is 'When.';
create index sandbox_refunds_charge_idx on private.sandbox_refunds (charge_id);
alter table private.sandbox_refunds enable row level security;
create policy "nobody but functions of their owner" on private.sandbox_refunds using (false);

create function private.sandbox_charge(
  reference text, amount numeric, currency text, title text, return_url text
) returns text
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  insert into private.sandbox_charges (reference, amount, currency, title, return_url)
  values (sandbox_charge.reference, sandbox_charge.amount, sandbox_charge.currency,
    sandbox_charge.title, sandbox_charge.return_url)
  on conflict do nothing;
  return (
    select sandbox_charges.id from private.sandbox_charges
    where sandbox_charges.reference = sandbox_charge.reference
  );
end
$$;
comment on function private.sandbox_charge is 'A charge at the sandbox, one for each reference.';

create function private.sandbox_look_up(id text, reference text) returns json
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'ref', sandbox_charges.id, 'reference', sandbox_charges.reference,
      'status', sandbox_charges.state,
      'amount', to_char(sandbox_charges.amount, 'FM999999999990.000'),
      'currency', sandbox_charges.currency, 'mode', 'test',
      'paymentId', case sandbox_charges.state
        when 'paid' then 'pay_' || substr(sandbox_charges.id, 5) end,
      'title', sandbox_charges.title, 'returnUrl', sandbox_charges.return_url,
      'details', json_build_object(
        'method', 'sandbox', 'trackId', substr(sandbox_charges.id, 5, 10),
        'referenceId', substr(sandbox_charges.id, 15, 12)))
    from private.sandbox_charges
    where sandbox_charges.id = sandbox_look_up.id
      or sandbox_charges.reference = sandbox_look_up.reference
  );
end
$$;
comment on function private.sandbox_look_up is 'What became of a charge at the sandbox.';

create function private.sandbox_decide(id text, state text) returns json
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  update private.sandbox_charges
  set state = sandbox_decide.state, decided_at = clock_timestamp()
  where sandbox_charges.id = sandbox_decide.id and sandbox_charges.state <> 'paid';
  return private.sandbox_look_up(sandbox_decide.id, null);
end
$$;
comment on function private.sandbox_decide is
  'The person pays or fails, on the page. What is paid stays paid.';

create function private.sandbox_refund(charge_id text, reference text, amount numeric)
  returns json
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  insert into private.sandbox_refunds (charge_id, reference, amount)
  values (sandbox_refund.charge_id, sandbox_refund.reference, sandbox_refund.amount)
  on conflict do nothing;
  return private.sandbox_refund_look_up(null, sandbox_refund.reference);
end
$$;
comment on function private.sandbox_refund is 'Gives money back at the sandbox, once a reference.';

create function private.sandbox_refund_look_up(id text, reference text) returns json
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'refundRef', sandbox_refunds.id, 'reference', sandbox_refunds.reference,
      'chargeRef', sandbox_refunds.charge_id, 'status', 'refunded',
      'amount', to_char(sandbox_refunds.amount, 'FM999999999990.000'), 'currency', 'KWD')
    from private.sandbox_refunds
    where sandbox_refunds.id = sandbox_refund_look_up.id
      or sandbox_refunds.reference = sandbox_refund_look_up.reference
  );
end
$$;
comment on function private.sandbox_refund_look_up is 'What became of a refund at the sandbox.';

grant execute on function private.sandbox_charge, private.sandbox_look_up, private.sandbox_decide,
  private.sandbox_refund, private.sandbox_refund_look_up
  to backend;
