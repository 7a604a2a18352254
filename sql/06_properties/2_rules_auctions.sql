-- There is no bidding yet. An auction's window can be changed or removed unless it is running.

create function private.copy_auction_window() returns trigger
  language plpgsql
  security definer -- updates the listing, regardless of who changes the auction
  set search_path = ''
as $$
begin
  update public.properties
  set auction_starts_at = new.starts_at, auction_ends_at = new.ends_at
  where properties.id = coalesce(new.property_id, old.property_id);
  return null;
end
$$;
comment on function private.copy_auction_window is
  'Copies the auction window to properties.auction_starts_at and auction_ends_at.';

create trigger auctions_window_is_copied
  after insert or update or delete on public.auctions
  for each row execute function private.copy_auction_window();

create function private.lock_property_for_auction(property_id uuid) returns public.properties
  language plpgsql set search_path = ''
as $$
declare
  property public.properties := private.lock_own_property(property_id);
begin
  if property.type <> 'SALE' then
    perform private.refuse_field('auction', 'field_not_for_type');
  elsif property.status not in ('draft', 'pending_review', 'active', 'paused')
    or now() between property.auction_starts_at and property.auction_ends_at then
    perform private.refuse_action(property);
  end if;
  return property;
end
$$;
