/** The conditions without which a function shows or changes more, each with the reason why that is allowed. */
export const survivors: Record<string, string> = {
  'cancel_closing: identities.id = cancel_closing.identity_id':
    'takes the closing of another identity of the same account back',
  'conversations_changed_at: participants.identity_id = conversations_changed_at.identity_id':
    'only changes the time of the newest change',
  'exported_conversation: conversations.opened_by = participant.account_id':
    'only changes whether the caller opened the conversation',
  'exported_conversation: identities.id = participants.identity_id':
    'postgres reads the names of the other sides, for all identities of the account',
  'exported_providers: identities.user_id = account_id': 'postgres reads a table of Auth',
  'get_organisation_stats: properties.owner_identity_id = owner_id':
    'counts public listings of others as well',
  'have_been_in_contact: messages.sender_identity_id = subject_id':
    'decides whether the caller may write a review, which is still their own',
  'is_admin: admins.account_id = private.account_id()':
    'is what the policies ask, so none binds it',
  'list_admin_settings: private.require_admin()': 'shows settings, none of which is about people',
  'list_my_properties: properties.owner_identity_id = owner_id':
    'lists public listings of others as well',
  'list_reviews: reviews.subject_identity_id = list_reviews.identity_id':
    'lists public reviews of others as well',
  'listings_used: properties.owner_identity_id = listings_used.identity_id':
    'counts public listings of others as well',
  'make_notification: accounts.id = make_notification.account_id':
    'takes the language of another account for the text of a notification',
  'release_moderation: private.require_admin()':
    'ends claims of the caller, and nobody but administrators has any',
  'require_advertiser: identities.id = require_advertiser.identity_id':
    'shows another advertiser, all of whose data is public',
  'require_own_organisation: identities.id = require_own_organisation.identity_id':
    'begins an upload for another identity of the same account',
  'response_minutes: participants.identity_id = response_minutes.identity_id':
    'measures how soon others answer, which is public for each of them',
  'session_records: sessions.user_id = session_records.account_id':
    'postgres reads a table of Auth',
  'switch_identity: identities.id = switch_identity.identity_id':
    'acts as another identity of the same account',
  'unblock_identity: blocks.identity_id = unblock_identity.identity_id':
    'removes other blocks of the same account',
}
