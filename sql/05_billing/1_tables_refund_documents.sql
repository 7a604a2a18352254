-- A receipt never changes, so a refund has a document of its own.

create table public.refund_documents (
  refund_id uuid primary key references public.refunds (id),
  invoice_id uuid not null references public.invoices (id),
  year integer not null,
  serial integer not null,
  number text not null generated always as (
    'CN-' || year || '-' || lpad(serial::text, greatest(6, length(serial::text)), '0')
  ) stored,
  payer_name text not null,
  document json not null,
  made_at timestamptz not null default now(),
  constraint refund_documents_year_and_serial_key unique (year, serial)
);
comment on table public.refund_documents is
  'Documents of refunds, as they were when the refund was booked. Never purged: no number may be '
  'missing.';
comment on column public.refund_documents.year is 'The year of the refund in Kuwait.';
comment on column public.refund_documents.serial is
  'The number of the document in its year, without gaps.';
comment on column public.refund_documents.number is
  'The number that people see, such as CN-2026-000123.';
comment on column public.refund_documents.payer_name is
  'Replaced with "deleted account" when the identity is closed.';
comment on column public.refund_documents.document is
  'Everything else that is printed on the document.';
create index refund_documents_invoice_idx on public.refund_documents (invoice_id);
alter table public.refund_documents enable row level security;
revoke all on public.refund_documents from anon, authenticated, service_role;
grant select on public.refund_documents to authenticated, acting, service_role;
create policy "identities see documents of their own refunds" on public.refund_documents
  for select to authenticated, acting
  using (exists (
    select from public.invoices
    where invoices.id = refund_documents.invoice_id
      and invoices.identity_id = (select private.identity_id())
  ));
create trigger refund_documents_stay
  before delete or truncate on public.refund_documents
  for each statement execute function private.refuse_rewriting();

create function private.guard_refund_document() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if (new.refund_id, new.invoice_id, new.year, new.serial, new.document::text, new.made_at)
    is distinct from
    (old.refund_id, old.invoice_id, old.year, old.serial, old.document::text, old.made_at)
    or new.payer_name <> 'حساب محذوف' then
    raise exception 'the document of a refund stays as it is' using errcode = '42501';
  end if;
  return new;
end
$$;
comment on function private.guard_refund_document is
  'Refuses any change of a refund''s document, except for replacing the payer''s name with '
  '"deleted account".';

create trigger refund_documents_stay_as_they_are
  before update on public.refund_documents
  for each row execute function private.guard_refund_document();
