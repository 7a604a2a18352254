create function private.find_target(kind text, typed text) returns uuid[]
  language plpgsql stable
  security definer -- reads other people's data, for an admin
  set search_path = ''
as $$
declare
  given_id constant uuid := case when pg_input_is_valid(typed, 'uuid') then typed::uuid end;
  compact constant text := upper(replace(typed, ' ', ''));
  ref constant integer := substring(compact from '^(?:KW-?)?([0-9]{1,9})$');
begin
  return case kind
    when 'account' then array(
      select accounts.id from public.accounts
      where not private.is_decoy(accounts)
        and (accounts.id = given_id or accounts.email = private.typed_identifier(typed)
          or accounts.phone = private.phone_of(typed))
      union
      select identities.account_id from public.identities where identities.id = given_id
    )
    when 'identity' then array(
      select identities.id from public.identities where identities.id = given_id
      union
      select organisations.identity_id from public.organisations
      join public.identities on identities.id = organisations.identity_id
      where organisations.licence_no = compact and identities.status <> 'closed'
    )
    when 'listing' then array(
      select properties.id from public.properties
      where (properties.id = given_id or properties.ref_no = ref)
        and properties.status <> 'deleted'
    )
    when 'invoice' then array(
      select invoices.id from public.invoices
      where invoices.id = given_id or invoices.number = compact
      union
      -- If an invoice was paid twice, the second payment is refunded separately.
      select payments.id from public.payments
      where payments.id = given_id and payments.state = 'surplus'
    )
    when 'message' then array(
      select message.id from private.find_message(given_id) as message where message.id is not null
    )
    when 'report' then array(select reports.id from public.reports where reports.id = given_id)
    when 'duplicate' then array(
      select duplicates.id from public.duplicates where duplicates.id = given_id
    )
    when 'payout' then array(
      select wallet_payouts.id from public.wallet_payouts where wallet_payouts.id = given_id
    )
  end;
end
$$;

create function private.said_by(typed text) returns uuid
  language plpgsql stable security definer set search_path = ''
as $$
declare
  admin_ids uuid[];
begin
  if typed is null then
    if (select count(*) from private.admins_in_order()) > 1 then
      perform private.refuse_by_hand('by is missing: type your phone, email or id, since more than one '
        'administrator could have done this.');
    end if;
    return null;
  end if;
  -- Admins whose accounts are locked are included, so that a team can unlock its own members.
  admin_ids := array(
    select admins.account_id from public.admins
    where admins.account_id = any (private.find_target('account', typed)));
  if cardinality(admin_ids) <> 1 then
    perform private.refuse_by_hand(case admin_ids
      when '{}' then format(
        'by is you, an account of admins, as phone, email or id: "%s" is none.', typed)
      else format('by fits more than one account of admins: type your id, %s.',
        array_to_string(admin_ids, ' or ')) end);
  end if;
  return admin_ids[1];
end
$$;
comment on function private.said_by is
  'Returns the admin named in "by"; null if "by" is empty and at most one admin may act.';

create function private.check_act(act public.admin_acts, kind public.admin_act_kinds) returns void
  language plpgsql set search_path = ''
as $$
declare
  given constant jsonb := to_jsonb(act);
  name text;
begin
  foreach name in array '{target,amount,to,value,until,version,everywhere,reason,note}'::text[] loop
    if given ->> name is null and name = any (kind.required) then
      perform private.refuse_by_hand(
        format('%s is missing. %s needs %s.', name, kind.act, kind.needs));
    elsif given ->> name is not null and name <> all (kind.required || kind.optional) then
      perform private.refuse_by_hand(
        format('Leave %s empty. %s needs %s.', name, kind.act, kind.needs));
    end if;
  end loop;
end
$$;

create function private.done_already(at timestamptz) returns text
  language sql stable
  return format('The same was done at %s: it is not done twice within 10 minutes.',
    to_char(at at time zone 'Asia/Kuwait', 'HH24:MI:SS'));

create function private.refuse_repeated_act(act public.admin_acts) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  earlier public.admin_acts;
begin
  -- A concurrent repetition of the act waits here. Only acts take this lock, and they take it first.
  perform pg_advisory_xact_lock(hashtextextended('act ' || act.target, 0));
  select * into earlier from public.admin_acts
  where admin_acts.target = act.target
    and admin_acts.state <> 'refused'
    and act.act <> 'refund' -- private.make_refund detects repeated refunds
    and (act.act <> 'set_identifier'
      or private.account_with(private.typed_identifier(act.value))::text = act.target)
    and admin_acts.created_at > clock_timestamp() - interval '10 minutes'
  order by admin_acts.created_at desc
  limit 1;
  if (earlier.act, earlier.until, earlier.everywhere)
    is not distinct from (act.act, act.until, act.everywhere) then
    perform private.refuse_by_hand(private.done_already(earlier.created_at));
  end if;
end
$$;
comment on function private.refuse_repeated_act is
  'Refuses an act that repeats the last act on the same target within 10 minutes.';
