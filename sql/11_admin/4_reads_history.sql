create function private.get_user_history(user_id uuid) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  page constant json := private.get_user(user_id);
  identity_ids constant uuid[] := array(
    select identities.id from public.identities
    where identities.account_id = get_user_history.user_id
  );
  listing_ids constant uuid[] := array(
    select properties.id from public.properties
    where properties.owner_identity_id = any (identity_ids)
  );
  report_ids constant uuid[] := array(
    select reports.id from public.reports where reports.reported_identity_id = any (identity_ids)
  );
begin
  perform private.require_admin();
  return json_build_object(
    'user', page -> 'user',
    'identities', page -> 'identities',
    'sessions', page -> 'sessions',
    'listings', page -> 'listings',
    'newestListings', (
      select coalesce(json_agg(json_build_object(
        'id', newest.id, 'refNo', 'KW-' || newest.ref_no, 'identityId', newest.owner_identity_id,
        'type', newest.type, 'kind', newest.kind, 'titleAr', newest.title_ar,
        'price', newest.price, 'status', newest.status, 'statusReason', newest.status_reason,
        'createdAt', newest.created_at, 'publishedAt', newest.published_at
      ) order by newest.created_at desc, newest.id desc), '[]')
      from (
        select properties.* from public.properties
        where properties.owner_identity_id = any (identity_ids)
        order by properties.created_at desc, properties.id desc
        limit 50
      ) as newest
    ),
    'reports', json_build_object(
      'made', (
        select coalesce(json_agg(private.report_record(reports)
          order by reports.created_at desc, reports.id desc), '[]')
        from public.reports where reports.id in (
          select newest.id from public.reports as newest
          where newest.account_id = get_user_history.user_id
          order by newest.created_at desc, newest.id desc
          limit 50
        )
      ),
      'about', (
        select coalesce(json_agg(private.report_record(reports)
          order by reports.created_at desc, reports.id desc), '[]')
        from public.reports where reports.id in (
          select newest.id from public.reports as newest
          where newest.reported_identity_id = any (identity_ids)
          order by newest.created_at desc, newest.id desc
          limit 50
        )
      )
    ),
    'invoices', (
      select coalesce(json_agg(private.invoice_record(invoices)
        order by invoices.issued_at desc, invoices.id desc), '[]')
      from public.invoices where invoices.id in (
        select newest.id from public.invoices as newest
        where newest.account_id = get_user_history.user_id
        order by newest.issued_at desc, newest.id desc
        limit 50
      )
    ),
    'audit', (
      select coalesce(json_agg(entry.record order by entry.ordinal), '[]')
      from private.audit_records(array(
        select audit.id from public.audit
        where audit.target_id = any (user_id || identity_ids || listing_ids || report_ids)
        order by audit.at desc, audit.id desc
        limit 50
      )) as entry
    ),
    'notes', (
      select coalesce(json_agg(private.note_record(notes)
        order by notes.created_at desc, notes.id desc), '[]')
      from public.notes where notes.id in (
        select newest.id from public.notes as newest
        where newest.account_id = get_user_history.user_id
        order by newest.created_at desc, newest.id desc
        limit 50
      )
    )
  );
end
$$;
comment on function private.get_user_history is
  'Api: For admins: what get_user returns about the user, identities, sessions and listings, and '
  'the newest 50 each of the account''s listings, reports by the account, reports about it, '
  'invoices with their payments, audit entries and notes. 403 admin_only, 404 user_not_found.';

grant execute on function private.get_user_history to authenticated;
