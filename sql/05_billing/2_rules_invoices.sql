create function private.invoice_steps() returns table (from_state text, to_state text)
  language sql immutable
  rows 16
  set search_path = ''
as $$
  values
    ('open', 'processing'), ('open', 'expired'), ('open', 'void'), ('open', 'paid'),
    ('processing', 'paid'), ('processing', 'failed'),
    ('failed', 'open'), ('failed', 'paid'),
    ('expired', 'paid'), ('void', 'paid'),
    ('paid', 'partially_refunded'), ('paid', 'refunded'), ('partially_refunded', 'refunded')
$$;

create function private.number_invoice() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  new.year := extract(year from new.issued_at at time zone 'Asia/Kuwait');
  insert into private.invoice_numbers (year, last) values (new.year, 1)
  on conflict on constraint invoice_numbers_pkey
    do update set last = invoice_numbers.last + 1
  returning invoice_numbers.last into new.serial;
  new.state := 'open';
  return new;
end
$$;
comment on function private.number_invoice is 'Assigns an invoice the next number of its year.';

create trigger invoices_are_numbered
  before insert on public.invoices
  for each row execute function private.number_invoice();

create function private.step_invoice() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if (new.id, new.year, new.serial, new.identity_id, new.account_id, new.purpose, new.total)
    is distinct from
    (old.id, old.year, old.serial, old.identity_id, old.account_id, old.purpose, old.total) then
    raise exception 'an invoice keeps its number, its owner and its total' using errcode = '42501';
  end if;
  if new.state <> old.state and not exists (
    select from private.invoice_steps() as steps
    where steps.from_state = old.state and steps.to_state = new.state
  ) then
    perform private.refuse(409, 'status_transition_invalid',
      jsonb_build_object('from', old.state, 'to', new.state),
      format('An invoice that is %s does not become %s: private.invoice_steps() says what it can.',
        old.state, new.state));
  end if;
  return new;
end
$$;
comment on function private.step_invoice is
  'Refuses changes of number, owner, purpose or total, and any state transition that is not listed '
  'in invoice_steps.';

create trigger invoices_go_their_way
  before update on public.invoices
  for each row execute function private.step_invoice();

create function private.record_invoice_state() returns trigger
  language plpgsql
  security definer -- writes invoice_events, which no client may write
  set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    insert into public.invoice_events (invoice_id, to_state) values (new.id, new.state);
  elsif new.state <> old.state then
    insert into public.invoice_events (invoice_id, from_state, to_state)
    values (new.id, old.state, new.state);
  end if;
  return null;
end
$$;
comment on function private.record_invoice_state is 'Records every state change of an invoice.';

create trigger invoices_are_recorded
  after insert or update on public.invoices
  for each row execute function private.record_invoice_state();

create trigger invoices_stay
  before delete or truncate on public.invoices
  for each statement execute function private.refuse_rewriting();
create trigger invoice_lines_are_only_added
  before update or truncate on public.invoice_lines
  for each statement execute function private.refuse_rewriting();

create function private.guard_invoice_line() returns trigger
  language plpgsql
  security definer -- reads the invoice, no matter who deletes the line
  set search_path = ''
as $$
begin
  if not exists (
    select from public.invoices
    where invoices.id = old.invoice_id and invoices.state = 'void'
      and invoices.issued_at < now() - interval '1 year'
  ) then
    raise exception 'the lines of an invoice stay' using errcode = '42501';
  end if;
  return old;
end
$$;
comment on function private.guard_invoice_line is
  'Refuses to delete a line unless its invoice is void and more than a year old.';

create trigger invoice_lines_stay
  before delete on public.invoice_lines
  for each row execute function private.guard_invoice_line();
create trigger invoice_events_are_only_added
  before update or delete or truncate on public.invoice_events
  for each statement execute function private.refuse_rewriting();

create function private.guard_receipt() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if new.invoice_id <> old.invoice_id or new.receipt::text <> old.receipt::text
    or new.made_at <> old.made_at or new.payer_name <> 'حساب محذوف' then
    raise exception 'a receipt stays as it is' using errcode = '42501';
  end if;
  return new;
end
$$;
comment on function private.guard_receipt is
  'Refuses any change of a receipt, except for replacing the payer''s name with "deleted account".';

create trigger receipts_stay_as_they_are
  before update on public.receipts
  for each row execute function private.guard_receipt();
