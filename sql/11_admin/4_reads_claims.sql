create function private.claimed_by_json(item_id uuid) returns json
  language sql stable set search_path = ''
as $$
  select json_build_object(
    'id', item_claims.account_id,
    'fullName', individual_profiles.full_name,
    'until', item_claims.claimed_at + interval '15 minutes')
  from public.item_claims
  left join public.individual_profiles on individual_profiles.account_id = item_claims.account_id
  where item_claims.item_id = claimed_by_json.item_id
    and item_claims.claimed_at > now() - interval '15 minutes'
$$;

create function private.awaits_decision(item_id uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from public.properties
    where properties.id = item_id and private.awaits_review(properties)
    union all
    select from public.identities
    where identities.id = item_id and private.awaits_verification(identities)
    union all
    select from public.reports where reports.id = item_id and reports.status = 'open'
    union all
    select from public.duplicates where duplicates.id = item_id and duplicates.state = 'open'
    union all
    select from public.wallet_payouts
    where wallet_payouts.id = item_id and private.payout_decisions(wallet_payouts) <> '{}'
  )
$$;

create function private.last_decision(item_id uuid) returns json
  language sql stable set search_path = ''
as $$
  select entry.record from private.audit_records(array(
    select audit.id from public.audit
    where audit.target_id = any (last_decision.item_id || array(
      select others.id
      from public.reports
      join public.reports as others using (target_type, target_id)
      where reports.id = last_decision.item_id
    )) and audit.action ~ '^(property[.](approve|reject|suspend|restore|status)|identity[.]status|'
      'report[.]status|duplicate[.]state|payout[.](paid_out|written_off))$'
    order by audit.at desc, audit.id desc
    limit 1
  )) as entry
$$;
comment on function private.last_decision is
  'The newest decision in the audit trail about the item. For a report, decisions about other '
  'reports of the same target count too.';
