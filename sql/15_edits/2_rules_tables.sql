-- This list defines what may be changed by hand, in Studio or with SQL. Such a change has the same effects
-- as one through the API and is recorded in the audit trail. All other changes are refused with the
-- `sentence` of the table, or with a default text if the table is not in the list. `acts` names what is
-- allowed besides updates: insert, delete or both.

do $$
declare
  usual constant text :=
    'The service keeps this table by itself: nothing is added, changed or deleted here by hand.';
  ledger constant text := 'Money is moved by payments, refunds and the wallet alone, and what was '
    'booked stays: to refund, add a row to admin_acts with act refund.';
  chat constant text := 'What people wrote to each other stays as it is, with what is counted of it: '
    'to hide a message add a row to admin_acts with act hide_message.';
  theirs constant text := 'This is what people chose for themselves: they change it in the app.';
  fenced record;
  always text[];
begin
  for fenced in
    with list (name, kind, acts, columns, sentence) as (values
      ('private.settings', 'setting', '', '{value,note}',
        'A setting keeps its name and is not deleted, functions read it: change its value.'),
      ('private.rates', 'rate', '', '{max,seconds,note,earned_by,earns,most,edited}',
        'A rate keeps its name and is not deleted, functions count by it: a max of a million or '
        'more is no limit.'),
      ('private.rate_hits', 'rate_hits', 'delete', '{}',
        'What was counted is written by functions. Delete a row, and its subject begins anew.'),
      ('private.banned_contacts', 'banned_contact', 'delete', '{}',
        'A phone or email of a banned account stays for a year: delete the row to allow it again.'),
      ('private.reading_words', 'search_word', 'insert, delete', '{phrase,field,value}',
        'Whether a word of searches is a name follows from areas, governorates, landmarks '
        'and vocabularies.'),
      ('private.landmarks', 'landmark', 'insert, delete', '{name_ar,name_en,lat,lng,edited}',
        'A landmark keeps its id, which its spellings in reading_words have: add another.'),
      ('private.suggest_hidden', 'suggest_hidden', 'insert, delete', '{word}',
        'A hidden word is one word: delete it and add another.'),
      ('private.alarms', 'alarm', '', '{settled_at,settled_note}',
        'An alarm stays until a year after it is settled: set settled_at and settled_note.'),
      ('public.vocabularies', 'word', 'insert', '{text_ar,text_en,note,position,edited}',
        'A code stays, listings and apps have it: change its texts, or add another code.'),
      ('public.governorates', 'governorate', '', '{name_ar,name_en,lat,lng,position,edited}',
        'A governorate keeps its id and stays, listings and apps have it: change its names.'),
      ('public.areas', 'area', 'insert',
        '{name_ar,name_en,alias_ar,lat,lng,approximate,reach_km,position,edited}',
        'An area keeps its id and governorate and stays, listings and apps have it: change its '
        'names, or add another area.'),
      ('public.accounts', 'account', '',
        '{language,status,status_reason,suspended_until,delete_at}',
        'An account comes, changes its email and phone, and goes with its sign-in: to delete it, add a '
        'row to admin_acts with act delete_account, or delete the user under Authentication.'),
      ('public.individual_profiles', 'account', '', '{full_name}',
        'The profile of a person goes with the account; the picture is uploaded in the app.'),
      ('public.identities', 'identity', '', '{status,status_reason}',
        'An identity keeps its type and account and stays: to end one of a company or office set '
        'status to closed. Names are changed in individual_profiles.full_name or '
        'organisations.name_ar, pictures uploaded in the app.'),
      ('public.account_settings', '', '', '{}', theirs),
      ('public.organisations', 'identity', '',
        '{name_ar,name_en,licence_no,licence_expires_on,about_ar,phone,whatsapp,email,website,'
        'governorate_id,area_id,address_ar,working_hours,verified}',
        'The page of a company or office follows its identity and account, and its pictures, '
        'ratings and counts are kept by the service: change identities.status or accounts.status.'),
      ('public.plans', 'plan', 'insert',
        '{name_ar,name_en,audience,price,interval_days,active_listings,listing_days,'
        'photos_per_listing,featured_credits,position,on_sale}',
        'A plan keeps its code and stays, invoices name it and the one called free is '
        'everybody''s without another: change its figures, or set on_sale to false.'),
      ('public.subscriptions', 'subscription', 'insert', '{renews}',
        'A plan ends when its time is over (set renews to false), when another replaces it, or when '
        'its invoice is refunded: add a row to admin_acts with act refund.'),
      ('public.subscription_intervals', 'subscription_interval', 'insert', '{}', ledger),
      ('public.featured_credits', 'featured_credits', 'insert', '{}', ledger),
      ('public.invoices', 'invoice', '', '{state}', ledger),
      ('public.invoice_lines', '', '', '{}', ledger),
      ('public.invoice_events', '', '', '{}', ledger),
      ('public.receipts', '', '', '{}', ledger),
      ('public.refund_documents', '', '', '{}', ledger),
      ('public.wallets', '', '', '{}', ledger),
      ('public.wallet_transfers', '', '', '{}', ledger),
      ('public.wallet_entries', '', '', '{}', ledger),
      ('public.payments', '', '', '{}',
        'A payment is captured when its provider says so: the job look_up_payments asks again by '
        'itself.'),
      ('public.refunds', '', '', '{}',
        'A refund is settled or rejected when its provider says so: the job look_up_refunds asks '
        'again by itself.'),
      ('public.wallet_payouts', '', '', '{}',
        'Money of a deleted account is decided by a row of admin_acts with act pay_out or write_off.'),
      ('public.payment_events', '', '', '{}',
        'What a provider reported, and what became of it, stays: a payment is looked up again by '
        'itself.'),
      ('public.properties', 'property', '',
        '{status,status_reason,' || array_to_string(private.property_columns('by_hand'), ',') || '}',
        'A listing is deleted by setting status to deleted. It keeps its owner, type and number; '
        'times, counts and what it copies from owner, auction and state are set by triggers; '
        'pending changes are decided by a row of admin_acts with act approve_changes or '
        'reject_changes.'),
      ('public.price_history', '', '', '{}',
        'The history of prices is what happened: change price of the listing.'),
      ('public.auctions', '', '', '{}',
        'An auction is set, changed and removed by its owner in the app: to end it for everybody '
        'suspend the listing.'),
      ('public.favorites', '', '', '{}', theirs),
      ('public.blocks', '', '', '{}', theirs),
      ('public.devices', '', '', '{}',
        'A device comes and goes with a sign-in: to sign somebody out suspend the account.'),
      ('public.leads', '', '', '{}',
        'Who asked for a contact stays: the owner of the listing was told, and reviews rest on it.'),
      ('public.media', '', '', '{}',
        'A picture is removed with its file: in the SQL editor, select '
        'private.discard_media(array[id]). A pending one is decided with the changes of its '
        'listing.'),
      ('public.documents', '', '', '{}',
        'A document comes and goes with its file: its owner removes it in the app, or it goes by itself '
        'when its time is over.'),
      ('public.conversations', '', '', '{}', chat),
      ('public.participants', '', '', '{}', chat),
      ('public.messages', '', '', '{}', chat),
      ('public.notifications', '', '', '{}',
        'What people were told stays: a notification goes by itself when its time is over.'),
      ('public.admins', '', 'insert, delete', '{role}',
        'To make another account an admin add a row for it, then delete this one.'),
      ('private.passkeys', '', '', '{}',
        'A passkey is added and removed by whose it is: for one that is lost add a row to admin_acts '
        'with act remove_passkeys.'),
      ('public.admin_acts', '', 'insert', '{}',
        'What was done stays: add another row for the act that undoes it, which '
        'admin_act_kinds.undone_by names.'),
      ('public.audit', '', '', '{}',
        'The audit trail is written by what admins do; nobody can change it.'),
      ('public.reports', 'report', '', '{status,status_reason}',
        'What was reported stays: set status to dismissed, or to upheld with status_reason.'),
      ('public.duplicates', '', '', '{}',
        'A pair is decided by a row of admin_acts with act suspend_duplicate or dismiss_duplicate.'),
      ('public.reviews', 'review', '', '{hidden_at}',
        'To take a review away set hidden_at; whether its author counts follows from '
        'identities.status and accounts.status.')
    )
    select
      tables.oid::regclass as name, list.kind, coalesce(list.acts, '') as acts,
      coalesce(list.columns, '{}')::text[] as columns, coalesce(list.sentence, usual) as sentence,
      array(
        select attname from pg_catalog.pg_attribute
        where attrelid = tables.oid and attgenerated <> ''
        order by attnum
      ) as generated
    from pg_catalog.pg_class as tables
    left join list on list.name::regclass = tables.oid
    where tables.relkind in ('r', 'p') and not tables.relispartition
      and tables.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
  loop
    always := array_remove(array[
      case when fenced.acts !~ 'insert' then 'insert' end,
      case when fenced.acts !~ 'delete' then 'delete' end,
      case when fenced.columns = '{}' then 'update' end,
      'truncate'
    ], null);
    -- Triggers fire in the order of their names: names that begin with _ fire before the table's own
    -- triggers, names that begin with ~ after them.
    execute format(
      'create trigger "_by_hand" before %s on %s for each statement '
      'when (session_user <> ''facade'') execute function private.refuse_edit(%L)',
      array_to_string(always, ' or '), fenced.name, fenced.sentence);
    if fenced.columns <> '{}' then
      execute format(
        'create trigger "_columns_by_hand" before update on %s for each row '
        'when (session_user <> ''facade'') execute function private.check_edit(%s)',
        fenced.name, (
          select string_agg(quote_literal(argument), ', ' order by ordinal)
          from unnest(fenced.sentence || fenced.columns || fenced.generated)
            with ordinality as arguments (argument, ordinal)));
    end if;
    if fenced.columns <> '{}' or fenced.acts <> '' then
      execute format(
        'create trigger "~by_hand" before insert or update on %s for each row '
        'when (session_user <> ''facade'') execute function private.explain_refusal()',
        fenced.name);
    end if;
    if fenced.kind <> '' then
      execute format(
        'create trigger "~recorded" after insert or update or delete on %s for each row '
        'when (session_user <> ''facade'') execute function private.audit_edit(%s)',
        fenced.name, (
          select string_agg(quote_literal(argument), ', ' order by ordinal)
          from unnest(fenced.kind || fenced.columns)
            with ordinality as arguments (argument, ordinal)));
    end if;
  end loop;
end
$$;
