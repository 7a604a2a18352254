create function private.update_reviews_of_author(identity_id uuid) returns void
  language plpgsql
  security definer -- updates reviews, for any role that changes the author
  set search_path = ''
as $$
declare
  author record;
  review_id uuid;
begin
  select
    identities.status = 'closed' as closed,
    identities.status not in ('suspended', 'closing') and private.may_act(accounts)
      and private.is_proven(accounts) as active
  into author
  from public.identities
  join public.accounts on accounts.id = identities.account_id
  where identities.id = update_reviews_of_author.identity_id;
  -- Sorted to avoid deadlocks: when two authors change at the same time, their averages are locked in
  -- the same order.
  for review_id in
    select reviews.id from public.reviews
    where reviews.author_identity_id = update_reviews_of_author.identity_id
      and (author.closed or reviews.author_active <> author.active)
    order by reviews.subject_identity_id
  loop
    -- The rating of a closed author is kept; the comment is removed.
    update public.reviews
    set author_active = case when author.closed then reviews.author_active else author.active end,
        comment = case when author.closed then null else reviews.comment end
    where reviews.id = review_id;
  end loop;
  if author.closed then
    update public.reviews set reply = null, replied_at = null
    where reviews.subject_identity_id = update_reviews_of_author.identity_id
      and reviews.reply is not null;
  end if;
end
$$;

create function private.on_author_identity_changed() returns trigger
  language plpgsql
  security definer -- updates reviews, for any role that changes the identity
  set search_path = ''
as $$
begin
  if old.status = 'closing' and new.status = 'closed' then
    -- Ratings that were hidden only because the identity was closing are shown again.
    update public.reviews set author_active = true
    from public.accounts
    where reviews.author_identity_id = new.id and not reviews.author_active
      and accounts.id = new.account_id and not private.is_locked(accounts)
      and private.is_proven(accounts);
  end if;
  perform private.update_reviews_of_author(new.id);
  return null;
end
$$;
comment on function private.on_author_identity_changed is
  'Updates the reviews that the identity wrote.';

create trigger identities_update_reviews
  after update of status on public.identities
  for each row when (old.status is distinct from new.status)
  execute function private.on_author_identity_changed();

create function private.on_author_account_changed() returns trigger
  language plpgsql
  security definer -- reads identities, for any role that changes the account
  set search_path = ''
as $$
begin
  -- When an account is deleted, its identities are closed too, and the trigger on identities updates
  -- their reviews.
  if new.status <> 'deleted' then
    perform private.update_reviews_of_author(identities.id)
    from public.identities
    where identities.account_id = new.id;
  else
    -- Ratings that were hidden only because of the deletion request are shown again.
    update public.reviews set author_active = true
    from public.identities
    where reviews.author_account_id = new.id and not reviews.author_active
      and identities.id = reviews.author_identity_id
      and identities.status not in ('suspended', 'closed')
      and not private.is_locked(old) and private.is_proven(old);
    delete from private.review_notices where review_notices.author_account_id = new.id;
    delete from private.closed_licences where closed_licences.account_id = new.id;
  end if;
  return null;
end
$$;
comment on function private.on_author_account_changed is
  'Updates the reviews that the account''s identities wrote.';

create trigger accounts_update_reviews
  after update of status, suspended_until, delete_at, phone, email_proven on public.accounts
  for each row when (
    (old.status, old.suspended_until, old.delete_at is null, private.is_proven(old))
      is distinct from
        (new.status, new.suspended_until, new.delete_at is null, private.is_proven(new))
  )
  execute function private.on_author_account_changed();
