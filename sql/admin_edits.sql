-- What an admin changes by hand, in Studio or by SQL: it has the effects that the route has, by the
-- triggers of each area, or it is refused with a sentence that says what to do. Nothing looks saved
-- that is not.

create function private.refuse_by_hand(sentence text) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  raise exception using errcode = 'check_violation', message = sentence;
end
$$;
comment on function private.refuse_by_hand is
  'Refuses what no route asks for: whoever changes rows by hand reads the sentence.';

create function private.refuse_edit() returns trigger
  language plpgsql
  set search_path = ''
as $$
declare
  stack text;
begin
  get diagnostics stack = pg_context;
  -- One line is this trigger alone: none of our functions and triggers made the change.
  if position(E'\n' in stack) = 0 then
    perform private.refuse_by_hand(tg_argv[0]);
  end if;
  return new;
end
$$;
comment on function private.refuse_edit is
  'Refuses a change that was made by hand. Argument: what to do instead.';

-- Accounts ---------------------------------------------------------------------------------------

create function private.enter_account_state() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if old.status = 'deleted' then
    perform private.refuse_by_hand('A deleted account does not come back: nothing of it is left.');
  end if;
  if new.status <> 'suspended' then
    new.suspended_until := null;
  end if;
  if new.status not in ('suspended', 'banned') then
    new.status_reason := null;
  end if;
  new.delete_at := case when new.status = 'deletion_requested'
    then coalesce(new.delete_at, now() + interval '14 days') end;
  return new;
end
$$;
comment on function private.enter_account_state is
  'Fills in what comes with the state that an account enters.';

create trigger accounts_abide_by_their_state
  before update of status on public.accounts
  for each row when (old.status is distinct from new.status)
  execute function private.enter_account_state();
create trigger accounts_are_not_deleted_by_hand
  before update of status on public.accounts
  for each row when (old.status <> 'deleted' and new.status = 'deleted')
  execute function private.refuse_edit(
    'An account is deleted with its sign-in: DELETE /admin/users/:id, or delete the user under '
    'Authentication.');
create trigger accounts_are_reached_as_they_sign_in
  before update of id, email, phone on public.accounts
  for each row when (
    (old.id, old.email, old.phone) is distinct from (new.id, new.email, new.phone)
  )
  execute function private.refuse_edit(
    'Email and phone are those of the sign-in: change them under Authentication, and they follow here.');

-- Identities -------------------------------------------------------------------------------------

create function private.enter_identity_state() returns trigger
  language plpgsql
  security definer -- reads the licence of whoever's state changes
  set search_path = ''
as $$
begin
  if old.status = 'closed' then
    perform private.refuse_by_hand('A closed identity does not come back: nothing of it is left.');
  elsif new.type = 'individual' and new.status not in ('active', 'suspended', 'closed') then
    perform private.refuse_by_hand(
      'A person''s own identity has no licence to be seen: it is active or suspended.');
  end if;
  if new.status not in ('rejected', 'suspended') then
    new.status_reason := null;
  end if;
  if new.status = 'closed' then
    new.display_name := 'حساب محذوف';
    new.avatar_url := null;
  end if;
  return new;
end
$$;
comment on function private.enter_identity_state is
  'Fills in what comes with the state that an identity enters.';

create trigger identities_abide_by_their_state
  before update of status on public.identities
  for each row when (old.status is distinct from new.status)
  execute function private.enter_identity_state();
create trigger identities_of_people_close_with_their_account
  before update of status on public.identities
  for each row when (
    new.type = 'individual' and old.status <> 'closed' and new.status = 'closed'
  )
  execute function private.refuse_edit(
    'A person''s own identity closes with the account: DELETE /admin/users/:id, or delete the user '
    'under Authentication.');
create trigger identities_keep_their_type
  before update of type, account_id on public.identities
  for each row when ((old.type, old.account_id) is distinct from (new.type, new.account_id))
  execute function private.refuse_edit(
    'An identity keeps its type and its account: the person asks for another one in the app.');

-- A name stands in two places; whoever changes the one that is written changes the one that is shown.
create function private.show_name() returns trigger
  language plpgsql
  security definer -- writes the identity of whoever's name changes
  set search_path = ''
as $$
begin
  if tg_table_name = 'organisations' then
    update public.identities set display_name = new.name_ar
    where identities.id = new.identity_id and identities.display_name <> new.name_ar;
  else
    update public.identities set display_name = new.full_name
    where identities.account_id = new.account_id and identities.type = 'individual'
      and identities.display_name <> new.full_name;
  end if;
  return null;
end
$$;
comment on function private.show_name is 'The name that others see is the one that was written.';

create trigger individual_profiles_show_their_name
  after update of full_name on public.individual_profiles
  for each row when (new.full_name <> coalesce(old.full_name, ''))
  execute function private.show_name();
create trigger organisations_show_their_name
  after update of name_ar on public.organisations
  for each row when (new.name_ar <> old.name_ar)
  execute function private.show_name();
create trigger identities_are_named_by_their_page
  before update of display_name, avatar_url on public.identities
  for each row when (
    old.status = new.status
    and (old.display_name, old.avatar_url) is distinct from (new.display_name, new.avatar_url)
  )
  execute function private.refuse_edit(
    'What others see comes from individual_profiles.full_name or organisations.name_ar and from the '
    'pictures that people upload: change it there.');

-- An identity that waits, was refused or is over is made good by its own status.
create trigger organisations_are_verified_by_their_identity
  before update of verified on public.organisations
  for each row when (new.verified and not old.verified and not new.active)
  execute function private.refuse_edit(
    'To verify a company or office, set identities.status to active: its page follows.');
create trigger organisations_follow_their_identity
  before update of identity_id, type, active on public.organisations
  for each row when (
    (old.identity_id, old.type, old.active) is distinct from (new.identity_id, new.type, new.active)
  )
  execute function private.refuse_edit(
    'The page of a company or office follows its identity and account: change identities.status or '
    'accounts.status.');

-- Reviews, pictures ------------------------------------------------------------------------------

create trigger reviews_follow_their_author
  before update of author_active, author_identity_id, subject_identity_id on public.reviews
  for each row when (
    (old.author_active, old.author_identity_id, old.subject_identity_id)
    is distinct from (new.author_active, new.author_identity_id, new.subject_identity_id)
  )
  execute function private.refuse_edit(
    'To take a review away set hidden_at; whether its author counts follows from identities.status '
    'and accounts.status.');
create trigger media_are_removed_with_their_files
  before update of discarded_at, removed_at, waits on public.media
  for each row when (
    (old.discarded_at, old.removed_at, old.waits)
    is distinct from (new.discarded_at, new.removed_at, new.waits)
  )
  execute function private.refuse_edit(
    'A picture goes with its file: in the SQL editor, select private.discard_media(array[id]). What '
    'waits is decided with the changes of its listing.');

-- Money ------------------------------------------------------------------------------------------

create trigger invoices_are_paid_by_payments
  before update of state on public.invoices
  for each row when (
    old.state <> new.state and new.state in ('paid', 'partially_refunded', 'refunded')
  )
  execute function private.refuse_edit(
    'An invoice is paid by a payment, or from the wallet in the app, and refunded at POST '
    '/admin/invoices/:id/refund: money and receipt go with it.');
create trigger payments_are_settled_by_their_provider
  before update of state on public.payments
  for each row when (old.state <> new.state and new.state in ('captured', 'surplus'))
  execute function private.refuse_edit(
    'A payment is captured when its provider says so: the job look_up_payments asks again by itself.');
create trigger refunds_are_settled_by_their_provider
  before update of state on public.refunds
  for each row when (old.state <> new.state)
  execute function private.refuse_edit(
    'A refund is settled or rejected when its provider says so: the job look_up_refunds asks again '
    'by itself.');
create trigger payment_events_are_what_was_told
  before update of status, outcome on public.payment_events
  for each row when ((old.status, old.outcome) is distinct from (new.status, new.outcome))
  execute function private.refuse_edit(
    'What a provider told, and what became of it, stays: a payment is looked up again by itself.');
create trigger subscriptions_end_by_themselves
  before update of status on public.subscriptions
  for each row when (old.status <> new.status)
  execute function private.refuse_edit(
    'A plan ends when its time is over (set renews to false), when another replaces it, or when its '
    'invoice is refunded at POST /admin/invoices/:id/refund.');

-- Switches ---------------------------------------------------------------------------------------

create function private.check_setting() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' and old.name <> new.name then
    perform private.refuse_by_hand('A switch keeps its name: functions ask for it by that.');
  elsif new.name = 'review_listings' and jsonb_typeof(new.value) <> 'boolean' then
    perform private.refuse_by_hand('review_listings is true or false, without quotation marks.');
  elsif new.name = 'seller' and (jsonb_typeof(new.value) <> 'object' or not new.value ?& array[
    'nameAr', 'nameEn', 'registrationNo', 'addressAr', 'phone', 'email'
  ]) then
    perform private.refuse_by_hand(
      'seller is an object with nameAr, nameEn, registrationNo, addressAr, phone and email.');
  end if;
  return new;
end
$$;
comment on function private.check_setting is
  'A value that no function would understand is refused instead of kept.';

create trigger settings_are_understood
  before insert or update on private.settings
  for each row execute function private.check_setting();
create trigger rates_keep_their_name
  before update of rule on private.rates
  for each row when (old.rule <> new.rule)
  execute function private.refuse_edit(
    'A rate keeps its name: functions count under it. A max of a million or more is no limit.');
create trigger plans_keep_the_free_one
  before update of code on public.plans
  for each row when (old.code = 'free' and new.code <> 'free')
  execute function private.refuse_edit(
    'The plan called free is everybody''s without another: change its figures, not its code.');
create trigger settings_of_functions_are_theirs
  before update of value on private.settings
  for each row when (old.name = 'files_url' and old.value <> new.value)
  execute function private.refuse_edit(
    'files_url is written by the functions, which know where the project is reached.');

revoke execute on all functions in schema private from public;
