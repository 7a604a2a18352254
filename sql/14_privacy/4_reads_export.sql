-- About others the export contains only ids, names and messages in the account's conversations.
-- Only the facade calls it, after committing the rate's count (06_properties/5_writes_contact.sql).

create function private.exported_conversation(participant public.participants) returns json
  language plpgsql stable
  security definer -- reads the other side's name and messages
  set search_path = ''
as $$
begin
  return json_build_object(
    'with', (
      select json_agg(private.shown_name(identities))
      from public.participants
      join public.identities on identities.id = participants.identity_id
      where participants.conversation_id = participant.conversation_id
        and participants.identity_id <> participant.identity_id
    ),
    'opened', exists (
      select from public.conversations
      where conversations.id = participant.conversation_id
        and conversations.opened_by = participant.account_id
    ),
    'muted', participant.muted,
    'archived', participant.archived,
    'messages', (
      select coalesce(json_agg(json_build_object(
        'seq', messages.seq,
        'mine', messages.sender_identity_id = participant.identity_id,
        'type', messages.type,
        -- The text of a hidden message is included only if the account sent it; its picture is gone.
        'body', case when messages.hidden_at is null
            or messages.sender_identity_id = participant.identity_id
          then messages.body else '' end,
        'mediaUrl', (
          select private.media_url(media.bucket, media.name) from public.media
          where media.id = messages.media_id and media.discarded_at is null
        ),
        'hidden', messages.hidden_at is not null,
        'createdAt', messages.created_at
      ) order by messages.seq), '[]')
      from public.messages where messages.conversation_id = participant.conversation_id
    )
  );
end
$$;

create function private.exported_identity(identity public.identities) returns json
  language plpgsql stable
  security definer -- reads the identity's rows in tables closed to clients
  set search_path = ''
as $$
begin
  return json_build_object(
    'identity', private.identity_record(identity),
    'listings', (
      select coalesce(json_agg(records.record order by records.ordinal), '[]')
      from private.property_records(array(
        select properties.id from public.properties
        where properties.owner_identity_id = identity.id and properties.status <> 'deleted'
        order by properties.created_at desc, properties.id desc
      ), identity.id) as records
    ),
    'favorites', (
      select coalesce(json_agg(json_build_object(
        'propertyId', favorites.property_id,
        'savedAt', favorites.created_at
      ) order by favorites.created_at desc, favorites.property_id), '[]')
      from public.favorites where favorites.identity_id = identity.id
    ),
    'contacts', (
      select coalesce(json_agg(json_build_object(
        'propertyId', leads.property_id,
        'kind', leads.kind,
        'at', leads.created_at
      ) order by leads.created_at desc, leads.id), '[]')
      from public.leads where leads.identity_id = identity.id
    ),
    'views', (
      select coalesce(json_agg(json_build_object(
        'propertyId', property_views.property_id,
        'day', property_views.day
      ) order by property_views.day desc, property_views.property_id), '[]')
      from private.property_views where property_views.identity_id = identity.id
    ),
    'pictures', (
      select coalesce(json_agg(json_build_object(
        'url', private.media_url(media.bucket, media.name),
        'use', media.use,
        'createdAt', media.created_at
      ) order by media.created_at, media.id), '[]')
      from public.media where media.identity_id = identity.id and media.discarded_at is null
    ),
    'documents', (
      select coalesce(json_agg(json_build_object(
        'id', documents.id,
        'name', documents.name,
        'type', documents.type,
        'size', documents.bytes,
        'createdAt', documents.created_at
      ) order by documents.created_at, documents.file), '[]')
      from public.documents
      where documents.identity_id = identity.id and documents.discarded_at is null
    ),
    'conversations', (
      select coalesce(json_agg(private.exported_conversation(participants)
        order by participants.active_at desc, participants.conversation_id), '[]')
      from public.participants where participants.identity_id = identity.id
    ),
    'subscriptions', (
      select coalesce(json_agg(json_build_object(
        'plan', plans.code,
        'status', subscriptions.status,
        'startsAt', subscriptions.starts_at,
        'endsAt', subscriptions.ends_at
      ) order by subscriptions.starts_at, subscriptions.id), '[]')
      from public.subscriptions
      join public.plans on plans.id = subscriptions.plan_id
      where subscriptions.identity_id = identity.id
    ),
    'invoices', (
      select coalesce(
        json_agg(private.invoice_record(invoices) order by invoices.year, invoices.serial), '[]')
      from public.invoices where invoices.identity_id = identity.id
    ),
    'wallet', (
      select coalesce(json_agg(json_build_object(
        'part', wallets.part,
        'kind', wallet_transfers.kind,
        'amount', wallet_entries.amount,
        'balanceAfter', wallet_entries.balance_after,
        'at', wallet_entries.created_at
      ) order by wallet_entries.id), '[]')
      from public.wallets
      join public.wallet_entries on wallet_entries.wallet_id = wallets.id
      join public.wallet_transfers on wallet_transfers.id = wallet_entries.transfer_id
      where wallets.identity_id = identity.id
    ),
    'reviews', (
      select coalesce(json_agg(json_build_object(
        'subjectIdentityId', reviews.subject_identity_id,
        'propertyId', reviews.property_id,
        'rating', reviews.rating,
        'comment', reviews.comment,
        'createdAt', reviews.created_at,
        'editedAt', reviews.edited_at
      ) order by reviews.created_at desc, reviews.id), '[]')
      from public.reviews where reviews.author_identity_id = identity.id
    ),
    -- A report of a message would name its reporter; the message is in its conversation.
    'reported', (
      select coalesce(json_agg(json_build_object(
        'targetType', reports.target_type,
        'targetId', reports.target_id,
        'reason', reports.reason,
        'content', private.shown_content(reports.kept)
      ) order by reports.id), '[]')
      from public.reports
      where reports.reported_identity_id = identity.id and reports.target_type <> 'message'
        and reports.kept is not null
    )
  );
end
$$;

create function private.exported_providers(account_id uuid) returns json
  language plpgsql stable
  security definer -- reads an Auth table
  set search_path = ''
as $$
begin
  return (
    select coalesce(json_agg(json_build_object(
      'provider', identities.provider,
      'subject', identities.provider_id,
      'said', identities.identity_data,
      'linkedAt', identities.created_at,
      'lastSignInAt', identities.last_sign_in_at
    ) order by identities.created_at, identities.provider), '[]')
    from auth.identities where identities.user_id = account_id
  );
end
$$;

create function private.exported_metadata(account_id uuid) returns jsonb
  language plpgsql stable
  security definer -- reads an Auth table
  set search_path = ''
as $$
begin
  return (
    select coalesce(users.raw_user_meta_data, '{}') from auth.users where users.id = account_id
  );
end
$$;

create function private.export_account() returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  caller_id constant uuid := private.require_account();
begin
  return json_build_object(
    'exportedAt', now(),
    'user', (
      select json_build_object(
        'id', accounts.id,
        'email', accounts.email,
        'emailProven', accounts.email_proven,
        'phone', accounts.phone,
        'fullName', individual_profiles.full_name,
        'avatarUrl', individual_profiles.avatar_url,
        'language', accounts.language,
        'termsVersion', accounts.terms_version,
        'termsAcceptedAt', accounts.terms_accepted_at,
        'createdAt', accounts.created_at
      )
      from public.accounts
      left join public.individual_profiles on individual_profiles.account_id = accounts.id
      where accounts.id = caller_id
    ),
    'signInProviders', private.exported_providers(caller_id),
    'metadata', private.exported_metadata(caller_id),
    'contactChanges', (
      select coalesce(json_agg(json_build_object(
        'act', changes.act,
        'kind', changes.kind,
        'value', changes.value,
        'oldValue', changes.old_value,
        'doneAt', changes.done_at
      ) order by changes.created_at), '[]')
      from private.contact_changes as changes where changes.account_id = caller_id
    ),
    'settings', private.settings_record(caller_id),
    'sessions', private.session_records(caller_id, false),
    'devices', (
      select coalesce(
        json_agg(private.device_record(devices) order by devices.created_at, devices.device_id),
        '[]')
      from public.devices where devices.account_id = caller_id
    ),
    'notifications', (
      select coalesce(json_agg(private.notification_record(notifications)
        order by notifications.created_at desc, notifications.id), '[]')
      from public.notifications where notifications.account_id = caller_id
    ),
    'blocks', (
      select coalesce(json_agg(json_build_object(
        'identityId', blocks.identity_id,
        'createdAt', blocks.created_at
      ) order by blocks.created_at, blocks.identity_id), '[]')
      from public.blocks where blocks.account_id = caller_id
    ),
    'suspensions', (
      select coalesce(json_agg(json_build_object(
        'propertyId', suspensions.property_id,
        'listing', suspensions.listing,
        'endedAt', suspensions.ended_at
      ) order by suspensions.property_id), '[]')
      from private.suspensions where suspensions.account_id = caller_id
    ),
    'reports', (
      select coalesce(
        json_agg(private.report_record(reports) order by reports.created_at, reports.id), '[]')
      from public.reports where reports.account_id = caller_id
    ),
    'identities', (
      select json_agg(private.exported_identity(identities)
        order by identities.created_at, identities.id)
      from public.identities where identities.account_id = caller_id
    )
  );
end
$$;
comment on function private.export_account is
  'Facade: everything that the calling account owns, with all its identities, as one JSON object.';

grant execute on function private.export_account to authenticated;
