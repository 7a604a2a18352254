/** Functions that refuse even the owner of all rows that the call concerns, with the reason. */
export const refusals: Record<string, [code: string, why: string]> = {
  'private.open_payout': ['status_transition_invalid', 'is for the money of a banned account'],
  'private.refund_invoice': ['status_transition_invalid', 'is for a paid invoice'],
  'private.require_admin_without_passkey': ['passkey_required', 'refuses who has a passkey'],
}

const ofAdministrators = 'administrators see everybody'

/** Mutants that show or change more, by the condition that they lack, and why this is acceptable. */
export const survivors: Record<string, string> = {
  'area_figures: identities.id = search_documents.owner_identity_id':
    'counts listings, which are public',
  'cancel_closing: identities.id = cancel_closing.identity_id':
    'takes the closing of another identity of the same account back',
  'cancel_closing: identities.id = identity.id':
    'takes the closing of other identities of the same account back, too',
  'end_session: sessions.user_id = caller_id (2)': 'postgres deletes from a table of Auth',
  'exported_providers: identities.user_id = account_id': 'postgres reads a table of Auth',
  'feed_offices: identities.id = any (office_ids)': 'shows other offices that are listed',
  'get_identity: identities.id = get_identity.identity_id':
    'shows another identity of the same account',
  'get_organisation: properties.owner_identity_id = get_organisation.identity_id':
    'counts public listings of others as well',
  'get_organisation_stats: properties.owner_identity_id = owner_id':
    'counts public listings of others as well',
  'get_property_insights: properties.owner_identity_id = owner_id':
    'says what public listings of others cost, and no figures of theirs',
  'get_user: accounts.id = get_user.user_id': ofAdministrators,
  'get_user: identities.account_id = account.id': ofAdministrators,
  'get_user: identities.account_id = account.id (3)': ofAdministrators,
  'get_user_history: identities.account_id = get_user_history.user_id': ofAdministrators,
  'get_user_history: newest.account_id = get_user_history.user_id': ofAdministrators,
  'get_user_history: newest.account_id = get_user_history.user_id (2)': ofAdministrators,
  'get_user_history: newest.account_id = get_user_history.user_id (3)': ofAdministrators,
  'get_user_history: newest.reported_identity_id = any (identity_ids)': ofAdministrators,
  'get_user_history: properties.owner_identity_id = any (identity_ids)': ofAdministrators,
  'get_user_history: properties.owner_identity_id = any (identity_ids) (2)': ofAdministrators,
  'get_user_history: reports.reported_identity_id = any (identity_ids)': ofAdministrators,
  'have_been_in_contact: leads.identity_id = author_id':
    'decides whether the caller may write a review, which is still their own',
  'is_admin: admins.account_id = private.account_id()':
    'is what the policies ask, so none binds it',
  'list_admin_settings: private.require_admin()': 'shows settings, none of which is about people',
  'list_advertiser_listings: properties.owner_identity_id = identity.id':
    'lists public listings of others as well',
  'list_documents: documents.identity_id = list_documents.identity_id':
    'lists documents of all identities of the account',
  'list_moderation: private.require_admin()': 'shows the reasons for decisions, and none of these',
  'list_my_properties: properties.owner_identity_id = owner_id':
    'lists public listings of others as well',
  'list_reviews: reviews.subject_identity_id = list_reviews.identity_id':
    'lists public reviews of others as well',
  'lock_account_exclusively: accounts.id = lock_account_exclusively.account_id':
    'finds another account for an administrator, who may act on any',
  'lock_identity_to_decide: identities.id = lock_identity_to_decide.identity_id (2)':
    'finds another identity for an administrator, who may decide about any',
  'make_notification: accounts.id = make_notification.account_id (2)':
    'asks about another account how to tell the owner, which does not',
  'my_conversations: participants.identity_id = private.identity_id()':
    'is what the policies ask, so none binds it',
  'offered_contact: identities.id = property.owner_identity_id':
    'asks of another account whether the caller is blocked',
  'queue_push: devices.account_id = made.account_id': 'locks devices of others',
  'queue_push: devices.account_id = made.account_id (3)': 'postgres writes pushes of others',
  'reply_to_review: reviews.subject_identity_id = subject_id':
    'lets the author of a review answer it, in a row of theirs',
  'require_advertiser: identities.id = require_advertiser.identity_id':
    'shows another advertiser, all of whose data is public',
  'session_records: sessions.user_id = session_records.account_id':
    'postgres reads a table of Auth',
  'set_contact: accounts.id = account.id': 'postgres changes another account for an administrator',
  'switch_identity: identities.id = switch_identity.identity_id':
    'acts as another identity of the same account',
  'unblock_identity: blocks.identity_id = unblock_identity.identity_id':
    'removes other blocks of the same account',
  'update_identity: organisations.identity_id = update_identity.identity_id (2)':
    'changes pages of other identities of the same account, too',
  'upload_documents: documents.identity_id = upload.identity_id':
    'finds the same file among documents of another identity of the account',
}

/** Survivors that do not survive in every run: they pick one of several rows, or find other tests' rows. */
export const byChance = new Set([
  'area_figures: identities.id = search_documents.owner_identity_id',
  'cancel_closing: identities.id = cancel_closing.identity_id',
  'get_identity: identities.id = get_identity.identity_id',
  'get_user: accounts.id = get_user.user_id',
  'list_advertiser_listings: properties.owner_identity_id = identity.id',
  'lock_account_exclusively: accounts.id = lock_account_exclusively.account_id',
  'lock_identity_to_decide: identities.id = lock_identity_to_decide.identity_id (2)',
  'offered_contact: identities.id = property.owner_identity_id',
  'queue_push: devices.account_id = made.account_id',
  'queue_push: devices.account_id = made.account_id (3)',
  'require_advertiser: identities.id = require_advertiser.identity_id',
  'set_contact: accounts.id = account.id',
  'switch_identity: identities.id = switch_identity.identity_id',
])
