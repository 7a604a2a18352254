create function private.account_to_block(caller_id uuid, identity_id uuid) returns uuid
  language plpgsql stable
  security definer -- reads the account of an identity
  set search_path = ''
as $$
begin
  return (
    select identities.account_id from public.identities
    where identities.id = account_to_block.identity_id
      and (
        private.is_publicly_visible(identities.id)
        or private.has_conversation_with(caller_id, identities.id)
      )
  );
end
$$;
comment on function private.account_to_block is
  'Returns the account of an identity that is public or has a conversation with the caller, '
  'otherwise null.';

create function private.block_identity(identity_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller();
  other_id uuid := private.account_to_block(caller_id, block_identity.identity_id);
begin
  if other_id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif other_id = caller_id then
    perform private.refuse_field('identityId', 'self');
  end if;
  -- Concurrent calls of an account wait for each other, so that the second one counts the block of the
  -- first.
  perform pg_advisory_xact_lock(hashtextextended('blocks ' || caller_id, 0));
  insert into public.blocks (account_id, identity_id, blocked_account_id)
  values (caller_id, block_identity.identity_id, other_id)
  on conflict do nothing;
  if found then
    perform private.check_limit('blocks_kept', 'blocks_full', (
      select count(*) - 1 from public.blocks where blocks.account_id = caller_id
    ));
  end if;
end
$$;

create function api.block_identity(identity_id uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('blocks');
  perform private.block_identity(identity_id);
end
$$;
comment on function api.block_identity is
  'Blocks an identity. Neither side can write to the other any more, and the blocked identity no '
  'longer sees presence and typing. Searches, the feed, the map and similar listings omit its '
  'listings. Repeated calls have no further effect. 404 identity_not_found, 409 blocks_full for '
  'more than 500 blocks, 422 for an identity of the caller.';

create function private.unblock_identity(identity_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  delete from public.blocks
  where blocks.account_id = caller_id and blocks.identity_id = unblock_identity.identity_id;
end
$$;

create function api.unblock_identity(identity_id uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('blocks');
  perform private.unblock_identity(identity_id);
end
$$;
comment on function api.unblock_identity is
  'Unblocks an identity. Repeated calls have no further effect.';

grant execute on function private.block_identity, private.unblock_identity to authenticated;
grant execute on function api.block_identity, api.unblock_identity to authenticated;
