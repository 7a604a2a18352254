-- What an admin looks for in Studio. Views read with their caller's rights, and are closed to
-- clients. An admin changes the tables behind them: the comment of each view says which column of
-- which. What is refused by hand, and why: 2_rules_edits.sql of each area.

create view public.admin_users with (security_invoker = true) as
  select
    accounts.id,
    individual_profiles.full_name as name,
    accounts.email,
    accounts.phone,
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
  'People, newest first. To lock one, set accounts.status to suspended or banned and status_reason '
  'to what the person will read, together or one after the other; sessions end at once. To make an '
  'admin, add a row to admins.';

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
      where claims.licence_no = organisations.licence_no and claims.identity_id <> identities.id
        and (claims.holds_licence or claiming.status = 'pending_verification')
    ) as claims,
    organisations.phone,
    organisations.email,
    accounts.email as account_email,
    accounts.phone as account_phone,
    accounts.id as account_id,
    identities.created_at
  from public.identities
  join public.organisations on organisations.identity_id = identities.id
  join public.accounts on accounts.id = identities.account_id
  where identities.status = 'pending_verification'
  order by identities.created_at;
comment on view public.admin_identities_to_verify is
  'Companies and offices that wait to be verified, the oldest first. claims are others with the same '
  'licence, the one that holds it first: only one can be active. To decide, set identities.status to '
  'active, or to rejected with status_reason: in one change, or the reason first, so that the owner '
  'is notified once.';

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
  'Listings and changes that wait, the oldest first, while the setting review_listings is true. '
  'Decide at POST /admin/moderation/:id/decide, or select private.decide_property(id, true or '
  'false, reason, version) in the SQL editor: with another version than the listing has by then it '
  'is refused. A listing may also be decided by setting properties.status '
  'to active, or to rejected with status_reason: in one change, or the reason first, so that the '
  'owner is notified once.';

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
    reports.created_at
  from public.reports
  join public.identities on identities.id = reports.identity_id
  where reports.status = 'open'
  order by reports.created_at, reports.id;
comment on view public.admin_reports is
  'What people have reported and nobody has decided, the oldest first. Decide at POST '
  '/admin/moderation/:id/decide, or set reports.status to dismissed, or to upheld with '
  'status_reason, in one change or the reason first: the listing is suspended or the review hidden '
  'then.';

create view public.admin_alarms with (security_invoker = true) as
  select alarms.id, alarms.kind, alarms.subject_id, alarms.details, alarms.raised_at
  from private.alarms
  where alarms.settled_at is null
  order by alarms.raised_at;
comment on view public.admin_alarms is
  'Alarms that nobody has settled, the oldest first: money that does not match, a job, a provider '
  'or a setting that fails. When done, set settled_at and settled_note of private.alarms.';

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
comment on view public.admin_payment_events is
  'What payment providers reported, newest first, and its outcome.';

create view public.admin_audit with (security_invoker = true) as
  select
    audit.id,
    audit.at,
    coalesce(individual_profiles.full_name, audit.actor_id::text, audit.actor_role) as actor,
    audit.action,
    audit.target_type,
    audit.target_id,
    audit.reason,
    audit.before,
    audit.after
  from public.audit
  left join public.individual_profiles on individual_profiles.account_id = audit.actor_id
  order by audit.id desc;
comment on view public.admin_audit is 'What admins did, newest first. Nobody can change it.';

revoke all on
  public.admin_users, public.admin_identities_to_verify, public.admin_listings_to_review,
  public.admin_reports, public.admin_alarms, public.admin_payment_events, public.admin_audit
  from public, anon, authenticated, service_role;
