-- Views for admins in Studio, whose comments explain how to act. They run with the caller's rights;
-- clients cannot read them.

create view public.admin_users with (security_invoker = true) as
  select
    accounts.id,
    individual_profiles.full_name as name,
    accounts.email,
    accounts.phone,
    private.phone_forms(accounts.phone) as phone_as_typed,
    accounts.status,
    accounts.status_reason,
    accounts.suspended_until,
    accounts.delete_at,
    exists (select from public.admins where admins.account_id = accounts.id) as is_admin,
    (
      select string_agg(
        format('%s %s (%s)', identities.type, identities.display_name, identities.status), ', '
        order by identities.created_at)
      from public.identities where identities.account_id = accounts.id
    ) as identities,
    users.last_sign_in_at,
    accounts.created_at
  from public.accounts
  left join public.individual_profiles on individual_profiles.account_id = accounts.id
  left join auth.users on users.id = accounts.id
  where accounts.email is distinct from 'decoy@accounts.invalid'
  order by accounts.created_at desc;
comment on view public.admin_users is
  'Accounts, newest first. To lock or delete one, add a row to admin_acts (suspend_account, '
  'ban_account, activate_account or delete_account); to make an admin, add a row to admins.';

create view public.admin_properties with (security_invoker = true) as
  select
    properties.id,
    'KW-' || properties.ref_no as ref_no,
    properties.status,
    properties.status_reason,
    properties.type,
    properties.kind,
    properties.title_ar,
    properties.price,
    properties.area_id,
    identities.display_name as owner,
    identities.type as owner_type,
    properties.owner_identity_id,
    identities.account_id,
    accounts.phone as account_phone,
    private.phone_forms(accounts.phone) as phone_as_typed,
    properties.pending_changes is not null as has_changes,
    private.review_version(properties) as version,
    (
      select count(*) from public.reports
      where reports.target_type = 'property' and reports.target_id = properties.id
        and reports.status = 'open'
    ) as reports,
    properties.published_at,
    properties.expires_at,
    properties.created_at
  from public.properties
  join public.identities on identities.id = properties.owner_identity_id
  join public.accounts on accounts.id = identities.account_id
  order by properties.ref_no desc;
comment on view public.admin_properties is
  'All listings, newest first. Filter by ref_no as people quote it (KW-102061), owner or phone. To '
  'suspend or restore a listing, add a row to admin_acts. To change texts or prices, edit the '
  'table properties.';

create view public.admin_identities_to_verify with (security_invoker = true) as
  select
    identities.id,
    identities.type,
    organisations.name_ar,
    organisations.name_en,
    organisations.licence_no,
    organisations.licence_expires_on,
    (
      select string_agg(
        format('%s %s (%s)', claims.type, claims.name_ar, claiming.status), ', '
        order by claims.holds_licence desc, claiming.created_at)
      from public.organisations as claims
      join public.identities as claiming on claiming.id = claims.identity_id
      where coalesce(identities.pending_changes ->> 'licenceNo', organisations.licence_no)
          in (claims.licence_no, claiming.pending_changes ->> 'licenceNo')
        and claims.identity_id <> identities.id
        and (claims.holds_licence or private.awaits_verification(claiming))
    ) as claims,
    (
      select string_agg(
        concat_ws(' ', to_char(audit.at at time zone 'Asia/Kuwait', 'YYYY-MM-DD'),
          audit.after ->> 'licenceNo', audit.after ->> 'status', audit.reason),
        ', ' order by audit.at desc, audit.id desc)
      from public.audit where audit.id = any (private.earlier_decisions(identities))
    ) as decisions,
    papers.names as papers,
    identities.pending_changes,
    private.page_version(identities.id) as version,
    organisations.phone,
    organisations.email,
    accounts.email as account_email,
    accounts.phone as account_phone,
    private.phone_forms(accounts.phone) as phone_as_typed,
    accounts.id as account_id,
    identities.created_at
  from public.identities
  join public.organisations on organisations.identity_id = identities.id
  join public.accounts on accounts.id = identities.account_id
  cross join lateral (
    select string_agg(documents.name, ', ' order by documents.created_at, documents.file) as names
    from public.documents
    where documents.identity_id = identities.id and documents.discarded_at is null
  ) as papers
  where private.awaits_verification(identities)
  order by identities.created_at;
comment on view public.admin_identities_to_verify is
  'Companies and offices to verify, oldest first. pending_changes are the changes that an already '
  'verified company or office requests. claims lists others with the same licence, its holder '
  'first; only one can be active. decisions lists earlier decisions about the same account or '
  'licence, newest first. Add a row to admin_acts with act verify_identity or reject_identity, '
  'target id or licence_no, and the version shown here. The version changes with the page and the '
  'documents (admin_documents) and is optional if there are no documents.';

create view public.admin_documents with (security_invoker = true) as
  select
    documents.id,
    organisations.name_ar,
    organisations.licence_no,
    identities.status,
    documents.name,
    documents.type,
    documents.encrypted,
    documents.bytes,
    documents.file,
    documents.created_at,
    documents.kept_until,
    documents.sha256,
    documents.identity_id,
    documents.account_id
  from public.documents
  join public.identities on identities.id = documents.identity_id
  left join public.organisations on organisations.identity_id = documents.identity_id
  where documents.discarded_at is null
  order by documents.created_at desc, documents.file;
comment on view public.admin_documents is
  'Licence documents, newest first. file is the name in the Storage bucket documents; GET '
  '/admin/documents/{id} returns the file and records the access. encrypted means a PDF that may '
  'require a password. Documents are deleted at kept_until.';

create view public.admin_listings_to_review with (security_invoker = true) as
  select
    properties.id,
    'KW-' || properties.ref_no as ref_no,
    case properties.status when 'pending_review' then 'listing' else 'changes' end as waits,
    properties.type,
    properties.kind,
    properties.title_ar,
    properties.price,
    properties.area_id,
    properties.pending_changes,
    identities.display_name as owner,
    identities.account_id,
    properties.created_at,
    private.review_version(properties) as version
  from public.properties
  join public.identities on identities.id = properties.owner_identity_id
  where private.awaits_review(properties)
  order by properties.created_at, properties.id;
comment on view public.admin_listings_to_review is
  'Listings and changes of listings that wait for a review, oldest first, while the setting '
  'review_listings is true. Add a row to admin_acts with ref_no as target and the version shown '
  'here; act is approve or reject if waits is listing, and approve_changes or reject_changes if '
  'waits is changes.';

create view public.admin_reports with (security_invoker = true) as
  select
    reports.id,
    reports.target_type,
    reports.target_id,
    reports.reason,
    reports.note,
    identities.display_name as reporter,
    reports.account_id as reporter_account_id,
    count(*) over (partition by reports.target_type, reports.target_id) as reports_of_it,
    reported.item #>> '{target,displayName}' as about,
    reported.item #>> '{target,text}' as says,
    reported.item -> 'then' as reported_as,
    reported.item -> 'now' as now_is,
    reported.item -> 'then' is distinct from reported.item -> 'now' as has_changed,
    (reported.item #>> '{target,accountId}')::uuid as account_id,
    reports.created_at
  from public.reports
  join public.identities on identities.id = reports.identity_id
  cross join lateral (select private.admin_report_json(reports)::jsonb as item) as reported
  where reports.status = 'open'
  order by reports.created_at, reports.id;
comment on view public.admin_reports is
  'Open reports, oldest first. about and account_id identify the reported account, says is the '
  'reported text. reported_as is the content at the time of the report, now_is the current '
  'content, both with URLs of their pictures; base the decision on reported_as. Add a row to '
  'admin_acts with act uphold or dismiss and id as target. Upholding suspends the listing or hides '
  'the review or message; both acts decide all reports of the same target.';

create view public.admin_duplicates with (security_invoker = true) as
  select
    duplicates.id,
    'KW-' || properties.ref_no as ref_no,
    properties.title_ar,
    properties.price,
    properties.status,
    owner.display_name as owner,
    owner.account_id,
    'KW-' || of_listing.ref_no as of_ref_no,
    of_listing.title_ar as of_title_ar,
    of_listing.price as of_price,
    of_listing.status as of_status,
    of_owner.display_name as of_owner,
    of_owner.account_id as of_account_id,
    private.review_version(properties) as version,
    duplicates.created_at
  from public.duplicates
  join public.properties on properties.id = duplicates.property_id
  join public.identities as owner on owner.id = properties.owner_identity_id
  join public.properties as of_listing on of_listing.id = duplicates.of_id
  join public.identities as of_owner on of_owner.id = of_listing.owner_identity_id
  where duplicates.state = 'open'
  order by duplicates.created_at, duplicates.id;
comment on view public.admin_duplicates is
  'Pairs of listings that have a picture in common, where ref_no seems to repeat of_ref_no, oldest '
  'first, while the setting find_duplicates is "on". Add a row to admin_acts with act '
  'suspend_duplicate (suspends ref_no) or dismiss_duplicate and id as target. A pair that was '
  'decided does not return.';

create view public.admin_payouts with (security_invoker = true) as
  select
    wallet_payouts.id,
    wallet_payouts.amount,
    wallet_payouts.name,
    wallet_payouts.phone,
    wallet_payouts.email,
    wallet_payouts.state,
    wallet_payouts.account_id,
    wallet_payouts.created_at,
    wallet_payouts.not_before
  from public.wallet_payouts
  where wallet_payouts.state in ('at_provider', 'open')
  order by wallet_payouts.created_at, wallet_payouts.id;
comment on view public.admin_payouts is
  'Money that is owed to deleted and banned accounts, oldest first. name, phone and email are kept '
  'for at most 180 days. The provider itself returns money in state at_provider. Transfer money in '
  'state open yourself, not before not_before, then add a row to admin_acts with act pay_out, id '
  'as target and the reference as note. Otherwise use write_off with a reason.';

create view public.admin_alarms with (security_invoker = true) as
  select alarms.id, alarms.kind, alarms.subject_id, alarms.details, alarms.raised_at
  from private.alarms
  where alarms.settled_at is null
  order by alarms.raised_at;
comment on view public.admin_alarms is
  'Unsettled alarms, oldest first. To settle one, set settled_at and settled_note in '
  'private.alarms.';

create view public.admin_payment_events with (security_invoker = true) as
  select
    payment_events.id,
    payment_events.provider,
    payment_events.kind,
    payment_events.outcome,
    payment_events.amount,
    payment_events.currency,
    invoices.number as invoice,
    invoices.state as invoice_state,
    payment_events.payment_id,
    payment_events.received_at,
    payment_events.processed_at
  from public.payment_events
  left join public.payments on payments.id = payment_events.payment_id
  left join public.invoices on invoices.id = payments.invoice_id
  order by payment_events.id desc;
comment on view public.admin_payment_events is 'Events of payment providers, newest first.';

create view public.admin_audit with (security_invoker = true) as
  select
    audit.id,
    audit.at,
    coalesce(audit.actor_name, audit.actor_id::text, audit.actor_role) as actor,
    coalesce(audit.said_name, audit.said_id::text) as said,
    audit.action,
    audit.target_type,
    audit.target_id,
    audit.reason,
    audit.before,
    audit.after
  from public.audit
  order by audit.id desc;
comment on view public.admin_audit is
  'The audit trail, newest first. actor is the admin or, without one, the database login; said is '
  'the admin named in "by" of admin_acts.';

revoke all on
  public.admin_users, public.admin_properties, public.admin_identities_to_verify,
  public.admin_documents,
  public.admin_listings_to_review, public.admin_reports, public.admin_duplicates,
  public.admin_payouts, public.admin_alarms,
  public.admin_payment_events, public.admin_audit
  from public, anon, authenticated, service_role;
