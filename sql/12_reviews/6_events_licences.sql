create function private.keep_closed_licence() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.closed_licences (identity_id, account_id, licence_no)
  select organisations.identity_id, accounts.id, organisations.licence_no
  from public.organisations
  join public.accounts on accounts.id = new.account_id
  where organisations.identity_id = new.id and accounts.status <> 'deleted'
    and exists (select from public.reviews where reviews.subject_identity_id = new.id);
  return null;
end
$$;
comment on function private.keep_closed_licence is
  'Stores the licence of an identity that is closed, if it has reviews.';

create trigger identities_leave_their_licence
  after update of status on public.identities
  for each row when (
    new.status = 'closed' and old.status <> 'closed' and new.type <> 'individual'
  )
  execute function private.keep_closed_licence();
comment on trigger identities_leave_their_licence on public.identities is
  'Runs before identities_show_their_organisation, which removes the licence number from the page.';

create function private.take_over_reviews(identity_id uuid) returns void
  language plpgsql
  security definer -- moves reviews by other people
  set search_path = ''
as $$
declare
  before_id uuid;
begin
  for before_id in
    delete from private.closed_licences as closed
    using public.organisations, public.identities
    where organisations.identity_id = take_over_reviews.identity_id
      and identities.id = organisations.identity_id and identities.status = 'active'
      and closed.licence_no = organisations.licence_no
      and closed.account_id = identities.account_id
      and closed.closed_at > now() - interval '2 years'
    returning closed.identity_id
  loop
    -- All reviews are locked before the updates below, each of which also locks the totals of both
    -- identities.
    perform from public.reviews where reviews.subject_identity_id = before_id
    order by reviews.id for no key update;
    insert into private.review_notices (author_account_id, subject_identity_id, hidden_at)
    select notices.author_account_id, take_over_reviews.identity_id, notices.hidden_at
    from private.review_notices as notices where notices.subject_identity_id = before_id
    on conflict do nothing;
    update public.reviews set subject_identity_id = take_over_reviews.identity_id
    where reviews.subject_identity_id = before_id and not exists (
      select from public.reviews as newer
      where newer.author_account_id = reviews.author_account_id
        and newer.subject_identity_id = take_over_reviews.identity_id
    );
  end loop;
end
$$;
comment on function private.take_over_reviews is
  'Moves all reviews, including hidden ones, from an identity that was closed in the last two '
  'years to the verified identity of the same account with the same licence.';

create function private.on_licence_taken() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.take_over_reviews(organisations.identity_id)
  from public.identities
  join public.organisations on organisations.identity_id = identities.id
  where case tg_table_name
    when 'identities' then identities.id = (to_jsonb(new) ->> 'id')::uuid
    when 'organisations' then identities.id = (to_jsonb(new) ->> 'identity_id')::uuid
    else identities.account_id = (to_jsonb(new) ->> 'account_id')::uuid
      and organisations.licence_no = to_jsonb(new) ->> 'licence_no' end;
  return null;
end
$$;
comment on function private.on_licence_taken is
  'Moves the reviews once both has happened, in either order: their identity is closed, and '
  'another identity of the account is verified with its licence.';

create trigger identities_take_over_reviews
  after update of status on public.identities
  for each row when (
    old.status <> 'active' and new.status = 'active' and new.type <> 'individual'
  )
  execute function private.on_licence_taken();
create trigger organisations_take_over_reviews
  after update of licence_no on public.organisations
  for each row when (new.holds_licence and old.licence_no <> new.licence_no)
  execute function private.on_licence_taken();
create trigger closed_licences_go_on
  after insert on private.closed_licences
  for each row execute function private.on_licence_taken();
