create function private.expire_licence(identity_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  hidden integer;
  expired public.identities;
begin
  -- If the account is locked, for example by a renewal, this identity is left to the next run.
  perform from public.accounts
  where accounts.id = (
    select identities.account_id from public.identities
    where identities.id = expire_licence.identity_id
  )
  for no key update skip locked;
  if not found then
    return false;
  end if;
  -- A renewal in SQL may have locked the identity without its account.
  perform from public.identities
  where identities.id = expire_licence.identity_id
  for no key update skip locked;
  if not found then
    return false;
  end if;
  select organisations.active_listings_count into hidden from public.organisations
  where organisations.identity_id = expire_licence.identity_id;
  update public.identities set status = 'expired'
  from public.organisations
  where identities.id = expire_licence.identity_id
    and organisations.identity_id = identities.id and identities.status = 'active'
    and private.licence_is_over(organisations)
  returning identities.* into expired;
  if expired.id is null then
    return false;
  end if;
  -- An account cannot act as an expired identity, so the notification goes to its individual
  -- identity.
  perform private.notify(expired.account_id, private.individual_of(expired.account_id),
    'licence_expired', expired.id,
    jsonb_build_object('name', expired.display_name, 'count', hidden));
  return true;
end
$$;

create function private.expire_licences() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('expire_licence', array(
    select organisations.identity_id::text from public.organisations
    where organisations.active
      and organisations.licence_expires_on < (now() at time zone 'Asia/Kuwait')::date
      and private.licence_is_over(organisations)
      and not private.failed_recently('expire_licence', organisations.identity_id::text)
    order by organisations.identity_id
    limit 100
  ), true)
$$;
comment on function private.expire_licences is
  'Job: expires identities whose licence has expired, and notifies their accounts once.';

create function private.response_minutes(identity_id uuid, conversations integer default 200)
  returns integer
  language plpgsql stable
  security definer -- reads other people's conversations
  set search_path = ''
as $$
begin
  return (
    with recent as (
      select participants.conversation_id from public.participants
      where participants.identity_id = response_minutes.identity_id
        and participants.active_at > now() - interval '90 days'
      order by participants.active_at desc, participants.conversation_id desc
      limit conversations
    ), lines as (
      select
        messages.conversation_id, messages.seq, messages.created_at,
        messages.sender_identity_id = response_minutes.identity_id as own,
        lag(messages.sender_identity_id) over conversation
          is distinct from messages.sender_identity_id as begins
      from recent
      -- The number of messages is limited, because this also runs when a person's page is opened.
      cross join lateral (
        select written.* from public.messages as written
        where written.conversation_id = recent.conversation_id
          and written.created_at > now() - interval '90 days'
        order by written.seq desc
        limit 100
      ) as messages
      window conversation as (partition by messages.conversation_id order by messages.seq)
    ), turns as (
      -- The time is measured from the other side's first message to this identity's first reply.
      select
        lines.own,
        lead(lines.created_at) over (partition by lines.conversation_id order by lines.seq)
          - lines.created_at as wait
      from lines
      where lines.begins
    )
    select round(extract(epoch from
      percentile_cont(0.5) within group (order by turns.wait)) / 60)::integer
    from turns
    where not turns.own and turns.wait is not null
    having count(*) >= 5 -- fewer replies are not representative
  );
end
$$;
comment on function private.response_minutes is
  'The median response time in minutes over the last 90 days, from up to 100 messages of each '
  'conversation; null if there are fewer than five replies.';

create function private.measure_response(identity_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  minutes integer;
begin
  -- The row and the page are locked together. If either is already locked, the identity is left to
  -- the next run.
  perform from private.response_measures
  join public.organisations using (identity_id)
  where response_measures.identity_id = measure_response.identity_id
    and response_measures.measured_at < now() - interval '1 hour'
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update private.response_measures set measured_at = now()
  where response_measures.identity_id = measure_response.identity_id;
  minutes := private.response_minutes(measure_response.identity_id);
  update public.organisations set median_response_minutes = minutes
  where organisations.identity_id = measure_response.identity_id
    and organisations.median_response_minutes is distinct from minutes;
  return true;
end
$$;

create function private.measure_responses() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('measure_response', array(
    select response_measures.identity_id::text from private.response_measures
    where response_measures.measured_at < now() - interval '1 hour'
      and not private.failed_recently('measure_response', response_measures.identity_id::text)
    order by response_measures.measured_at
    limit 200
  ))
$$;
comment on function private.measure_responses is
  'Job: measures response times, starting with the identities measured longest ago.';

grant execute on function private.expire_licences, private.measure_responses to backend;
