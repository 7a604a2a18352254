create function private.is_banned_contact(value text, hash text) returns boolean
  language sql stable
  security definer -- reads a table closed to everybody
  set search_path = ''
as $$
  select exists (
    select from private.banned_contacts as banned
    where (banned.value = is_banned_contact.value
        or banned.hash = decode(is_banned_contact.hash, 'hex'))
      and banned.banned_at > now() - interval '1 year'
  )
$$;
comment on function private.is_banned_contact is
  'Whether this phone or email belonged to a banned account. The edge functions compute hash.';

create function private.keep_banned_contacts() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.status = 'banned' then
    -- Only proven contacts are banned. Otherwise somebody could register with another person's
    -- email and get it banned.
    insert into private.banned_contacts (account_id, value)
    select new.id, contact.value
    from unnest(array[new.phone, private.proven_contact(new, 'email')]) as contact (value)
    where contact.value is not null and (
      old.status <> 'banned'
      or (contact.value in (old.phone, private.proven_contact(old, 'email'))) is not true
    );
  elsif new.status <> 'deleted' then
    delete from private.banned_contacts where banned_contacts.account_id = new.id;
  end if;
  return null;
end
$$;
comment on function private.keep_banned_contacts is
  'Stores the proven phone and email of a banned account, and deletes them when the ban is lifted.';

create trigger accounts_keep_banned_contacts
  after update of status, phone, email, email_proven on public.accounts
  for each row when (new.status = 'banned' or old.status = 'banned')
  execute function private.keep_banned_contacts();
