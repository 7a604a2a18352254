create function private.are_blocked(one_account_id uuid, other_account_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads the blocks of both accounts
  set search_path = ''
as $$
begin
  return exists (
    select from public.blocks
    where blocks.account_id = one_account_id and blocks.blocked_account_id = other_account_id
  ) or exists (
    select from public.blocks
    where blocks.account_id = other_account_id and blocks.blocked_account_id = one_account_id
  );
end
$$;

-- Most callers have blocked nobody, so the session is checked only if there are blocks.
create function private.blocked_identities() returns uuid[]
  language plpgsql stable
  security definer -- reads the caller's blocks before checking the session
  set search_path = ''
as $$
declare
  caller_sub constant uuid :=
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub';
  blocked uuid[] := '{}';
begin
  if caller_sub is not null then
    blocked := array(
      select blocks.identity_id from public.blocks where blocks.account_id = caller_sub);
    if blocked <> '{}' and private.account_id() is null then
      blocked := '{}';
    end if;
  end if;
  return blocked;
end
$$;
comment on function private.blocked_identities is
  'The identities that the caller has blocked. Other identities of the same accounts stay in '
  'lists, because leaving them out would reveal who owns them.';
