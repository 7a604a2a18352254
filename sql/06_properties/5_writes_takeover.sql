-- Somebody else may have registered an account with a person's email. When the person first proves that
-- the email is theirs, everything that was published or submitted before is withdrawn.

create function private.unproven_past_reason() returns text
  language sql immutable
  return 'أُرسل هذا الطلب قبل إثبات ملكية البريد الإلكتروني، راجع البيانات وأرسلها من جديد';

create function private.suspend_unproven_past(account_id uuid) returns void
  language plpgsql
  security definer -- writes listings and identities of the account
  set search_path = ''
as $$
declare
  identity_ids constant uuid[] := array(
    select identities.id from public.identities
    where identities.account_id = suspend_unproven_past.account_id
  );
  shown constant integer := 10;
  affected text[];
begin
  perform private.lock_dependents(account_id, identity_ids, false);
  update public.accounts set terms_version = null, terms_accepted_at = null
  where accounts.id = suspend_unproven_past.account_id and accounts.terms_version is not null;
  -- When its suspension is lifted, such a listing becomes paused or a draft.
  update public.properties
  set suspended_from = case properties.suspended_from when 'active' then 'paused' else 'draft' end
  where properties.owner_identity_id = any (identity_ids)
    and properties.status = 'suspended' and properties.suspended_from in ('active', 'pending_review');
  with paused as (
    update public.properties
    set status = case properties.status when 'active' then 'paused' else 'draft' end,
        pause_reason = case properties.status when 'active' then 'unproven_past' end,
        version = properties.version + 1
    where properties.owner_identity_id = any (identity_ids)
      and properties.status in ('active', 'pending_review')
    returning properties.ref_no
  ), withdrawn as (
    update public.identities
    set pending_changes = null,
        status = case identities.status
          when 'pending_verification' then 'rejected' else identities.status end,
        status_reason = case identities.status
          when 'suspended' then identities.status_reason else private.unproven_past_reason() end
    where identities.id = any (identity_ids)
      and (identities.status = 'pending_verification' or identities.pending_changes is not null)
    returning identities.display_name
  )
  select array(select 'KW-' || paused.ref_no from paused order by paused.ref_no)
    || array(select withdrawn.display_name from withdrawn order by 1)
  into affected;
  if affected = '{}' then
    return;
  end if;
  perform private.notify(account_id, null, 'system', null, jsonb_build_object(
    'titleAr', 'أوقفنا ما نُشر قبل إثبات بريدك',
    'bodyAr', format(
      'ربما سجّل غيرك بريدك قبلك، فأوقفنا مؤقتاً: %s. استأنف من الإعلانات ما يخصك، وعدّل طلبات التوثيق '
      'لإرسالها من جديد',
      array_to_string(affected[:shown], '، ')
        || case when cardinality(affected) > shown then ' …' else '' end),
    'titleEn', 'What was there before you proved your email is paused',
    'bodyEn', format(
      'Somebody else may have registered your email before you, so we paused: %s. Resume the '
      'listings that are yours, and change requests for verification to send them again',
      array_to_string(affected[:shown], ', ')
        || case when cardinality(affected) > shown then ' …' else '' end)));
end
$$;
comment on function private.suspend_unproven_past is
  'Pauses active listings, turns listings in review into drafts, rejects identities that wait for '
  'verification and pending changes of identities, and notifies the owner once. The owner can '
  'resume the listings and resubmit the identities.';
