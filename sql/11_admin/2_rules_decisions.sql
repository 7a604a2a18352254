create function private.tidy_reason(reason text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  problem text := private.text_problem(reason, 500);
  given text;
begin
  if problem is null then
    given := private.tidy(reason, 500, 'reason');
    problem := coalesce(
      private.length_problem(coalesce(given, left(reason, 0)), 2, 500),
      case when not private.is_clean(given) then 'invalid' end);
  end if;
  if problem is not null then
    perform private.refuse_field('reason', problem, fewest => 2, most => 500, by_hand =>
      'reason is 2 to 500 characters on one line.');
  end if;
  return given;
end
$$;

create function private.identity_decisions(identity public.identities) returns text[]
  language sql stable
  return case
    when identity.status = 'active' then '{suspended}'
    when identity.status = 'suspended' then '{active}'
    when identity.type = 'individual' then '{}'
    when identity.status = 'pending_verification' then '{active,rejected}'
    when identity.status = 'expired' then '{active}'
    else '{}'
  end::text[];

-- This function has no search_path, so that it is inlined and queries can use the indexes
-- identities_await_verification_*.
create function private.awaits_verification(identity public.identities) returns boolean
  language sql immutable parallel safe
  return (
    (awaits_verification.identity).status = 'pending_verification'
    or (awaits_verification.identity).pending_changes is not null
  ) and (awaits_verification.identity).status <> 'suspended';

create function private.has_changes_to_decide(identity public.identities) returns boolean
  language sql immutable
  return identity.pending_changes is not null and private.awaits_verification(identity);

create function private.identity_moderation(identity public.identities) returns text[]
  language sql stable set search_path = ''
as $$
  select case when private.has_changes_to_decide(identity)
    then array['approve', 'reject'] else '{}' end || array(
    select case allowed.status
      when 'active' then case identity.status when 'suspended' then 'restore' else 'approve' end
      when 'rejected' then 'reject'
      else 'suspend'
    end
    from unnest(private.identity_decisions(identity)) as allowed (status)
    -- Approving the pending changes also activates an expired identity, so approve is listed only once.
    where not (allowed.status = 'active' and private.has_changes_to_decide(identity))
  )
$$;
comment on function private.identity_moderation is
  'The possible decisions: approve or reject (the identity or its changes), suspend or restore.';

-- This function has no search_path, so that it is inlined and queries can use properties_await_review_idx.
create function private.awaits_review(property public.properties) returns boolean
  language sql immutable parallel safe
  return (
    (awaits_review.property).status = 'pending_review'
    or (awaits_review.property).pending_changes is not null
  ) and (awaits_review.property).status not in ('deleted', 'suspended');

create function private.review_version(property public.properties) returns integer
  language sql immutable
  return property.version + property.pictures_version;
comment on function private.review_version is
  'Grows with every change that an admin can see in the listing or its pictures.';

create function private.property_decisions(property public.properties) returns text[]
  language sql immutable
  return array_remove(array[
    case when property.status = 'pending_review' or property.pending_changes is not null
      then 'approve' end,
    case when property.status = 'pending_review' or property.pending_changes is not null
      then 'reject' end,
    case when property.status = 'suspended' then 'restore' end,
    case when property.status not in ('suspended', 'deleted') then 'suspend' end
  ], null);

create function private.duplicate_decisions(duplicate public.duplicates) returns text[]
  language sql immutable
  return case duplicate.state when 'open' then array['suspend', 'dismiss'] else '{}' end;

grant execute on function
  private.awaits_review, private.review_version, private.awaits_verification
  to service_role;
