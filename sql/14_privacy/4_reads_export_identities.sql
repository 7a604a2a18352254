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
    'propertyId', (
      select conversations.property_id from public.conversations
      where conversations.id = participant.conversation_id
    ),
    'muted', participant.muted,
    'archived', participant.archived,
    'messages', (
      select coalesce(json_agg(json_build_object(
        'seq', messages.seq,
        'mine', messages.sender_identity_id = participant.identity_id,
        'type', messages.type,
        'body', case when messages.hidden_at is null then messages.body else '' end,
        'mediaUrl', (
          select private.media_url(media.bucket, media.name) from public.media
          where media.id = messages.media_id and media.discarded_at is null
        ),
        'hidden', messages.hidden_at is not null,
        'replyToSeq', messages.reply_to_seq,
        'createdAt', messages.created_at
      ) order by messages.seq), '[]')
      from public.messages where messages.conversation_id = participant.conversation_id
    )
  );
end
$$;

create function private.own_identities() returns uuid[]
  language plpgsql stable
  security definer -- policies call this function, so its own query must bypass policies
  set search_path = ''
as $$
begin
  return array(
    select identities.id from public.identities
    where identities.account_id = private.account_id()
  );
end
$$;

do $$
declare
  own constant text := 'any ((select private.own_identities())::uuid[])';
  one record;
begin
  for one in
    select * from (values
      ('public.organisations', 'identity_id = %1$s'),
      ('public.properties', 'owner_identity_id = %1$s'),
      ('public.price_history', 'exists (
        select from public.properties where properties.id = price_history.property_id)'),
      ('public.leads', 'owner_identity_id = %1$s or identity_id = %1$s'),
      ('public.favorites', 'identity_id = %1$s'),
      ('private.property_views', 'identity_id = %1$s'),
      ('public.media', 'identity_id = %1$s'),
      ('public.documents', 'identity_id = %1$s'),
      ('public.participants', 'identity_id = %1$s'),
      ('public.plans', 'true'),
      ('public.subscriptions', 'identity_id = %1$s'),
      ('public.invoices', 'identity_id = %1$s'),
      ('public.receipts', 'exists (
        select from public.invoices where invoices.id = receipts.invoice_id)'),
      ('public.wallets', 'identity_id = %1$s'),
      ('public.wallet_entries', 'exists (
        select from public.wallets where wallets.id = wallet_entries.wallet_id)'),
      ('public.wallet_transfers', 'exists (
        select from public.wallet_entries where wallet_entries.transfer_id = wallet_transfers.id)'),
      ('public.reviews', 'author_identity_id = %1$s or subject_identity_id = %1$s'),
      ('public.featured_credits', 'identity_id = %1$s'),
      ('public.reports', 'reported_identity_id = %1$s')
    ) as listed (place, condition)
  loop
    execute format('create policy "exports have what all identities of the account have" on %s '
      'for select to exporting using (%s)', one.place, format(one.condition, own));
    execute format('grant select on %s to exporting', one.place);
  end loop;
end
$$;

create function private.exported_identity(identity public.identities) returns json
  language plpgsql stable
  security definer -- runs as its owner, the role exporting
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
    'deletedListings', (
      select coalesce(json_agg(
        records.record::jsonb || jsonb_build_object('deletedAt', properties.deleted_at)
        order by records.ordinal), '[]')
      from private.property_records(array(
        select properties.id from public.properties
        where properties.owner_identity_id = identity.id and properties.status = 'deleted'
        order by properties.deleted_at desc, properties.id desc
      ), identity.id) as records
      join public.properties on properties.id = records.id
    ),
    'priceHistory', (
      select coalesce(json_agg(json_build_object(
        'propertyId', price_history.property_id,
        'price', price_history.price,
        'changedAt', price_history.changed_at
      ) order by price_history.changed_at desc, price_history.id desc), '[]')
      from public.properties
      join public.price_history on price_history.property_id = properties.id
      where properties.owner_identity_id = identity.id
    ),
    'leads', (
      select coalesce(json_agg(json_build_object(
        'propertyId', leads.property_id,
        'kind', leads.kind,
        'at', leads.created_at,
        'from', private.lead_sender(leads.identity_id)
      ) order by leads.created_at desc, leads.id), '[]')
      from public.leads where leads.owner_identity_id = identity.id
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
        'endsAt', subscriptions.ends_at,
        'payWith', subscriptions.pay_with,
        'renews', subscriptions.renews,
        'terms', subscriptions.terms
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
    'receipts', (
      select coalesce(json_agg(json_build_object(
        'payerName', receipts.payer_name,
        'receipt', receipts.receipt
      ) order by invoices.year, invoices.serial), '[]')
      from public.invoices
      join public.receipts on receipts.invoice_id = invoices.id
      where invoices.identity_id = identity.id
    ),
    'refunds', (
      select coalesce(
        json_agg(documents.document order by invoices.year, invoices.serial, documents.ordinal), '[]')
      from public.invoices
      cross join lateral json_array_elements(private.refund_documents_of(invoices.id))
        with ordinality as documents (document, ordinal)
      where invoices.identity_id = identity.id
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
        'comment', case when reviews.hidden_at is null then reviews.comment end,
        'reply', case when reviews.hidden_at is null then reviews.reply end,
        'hidden', reviews.hidden_at is not null,
        'createdAt', reviews.created_at,
        'editedAt', reviews.edited_at
      ) order by reviews.created_at desc, reviews.id), '[]')
      from public.reviews where reviews.author_identity_id = identity.id
    ),
    -- If a review is not listed, the export contains only the identity's own reply.
    'reviewsReceived', (
      select coalesce(json_agg(case when reviews.listed
        then private.review_record(reviews, identity.id)
        else json_build_object(
          'id', reviews.id, 'reply', reviews.reply, 'repliedAt', reviews.replied_at)
      end order by reviews.created_at desc, reviews.id), '[]')
      from public.reviews
      where reviews.subject_identity_id = identity.id
        and (reviews.listed or reviews.reply is not null)
    ),
    'featuredCredits', (
      select coalesce(sum(featured_credits.credits), 0) from public.featured_credits
      where featured_credits.identity_id = identity.id
    ),
    -- Reports of messages are left out: they would reveal who reported. The messages themselves are exported
    -- with their conversations.
    'reported', (
      select coalesce(json_agg(json_build_object(
        'targetType', reports.target_type,
        'targetId', reports.target_id,
        'reason', reports.reason,
        'content', private.shown_content(reports.stored_content)
      ) order by reports.id), '[]')
      from public.reports
      where reports.reported_identity_id = identity.id and reports.target_type <> 'message'
        and reports.stored_content is not null and not exists (
          select from public.reviews
          where reports.target_type = 'review' and reviews.id = reports.target_id
            and reviews.hidden_at is not null
        )
    )
  );
end
$$;
