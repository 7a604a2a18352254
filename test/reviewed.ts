/**
 * Every function that somebody other than its owner may execute, by whom and why. A function that
 * is missing here fails test/doors.test.ts, whether or not the Data API exposes its schema.
 */
export type Callers = 'guests' | 'users' | 'backend' | 'all'

type Review = [by: Callers, why: string, functions: string[]]

// guests: anon and authenticated. users: authenticated. backend: the facade acting for nobody.
// all: anon, authenticated and backend.
const reviews: Review[] = [
  ['guests', 'reads what everybody may see', [
    'api.get_property',
    'api.list_amenities',
    'api.list_areas',
    'api.list_enums',
    'api.list_feed',
    'api.list_governorates',
    'api.list_kinds',
    'api.list_price_history',
    'api.list_similar_properties',
  ]],
  ['guests', 'the same behind it, with the visibility rule written out', [
    'private.get_property',
    'private.list_feed',
    'private.list_price_history',
    'private.list_similar_properties',
  ]],
  ['users', 'for whoever is signed in, about what is theirs', [
    'api.add_identity',
    'api.archive_property',
    'api.check_favorite',
    'api.check_session',
    'api.confirm_property_available',
    'api.contact_property',
    'api.create_property',
    'api.delete_property',
    'api.get_identity',
    'api.get_me',
    'api.list_favorite_ids',
    'api.list_favorites',
    'api.list_identities',
    'api.list_my_properties',
    'api.mark_property_exchanged',
    'api.mark_property_rented',
    'api.mark_property_sold',
    'api.pause_property',
    'api.publish_property',
    'api.remove_auction',
    'api.renew_property',
    'api.restore_property',
    'api.resume_property',
    'api.set_auction',
    'api.switch_identity',
    'api.toggle_favorite',
    'api.update_identity',
    'api.update_me',
    'api.update_property',
  ]],
  ['users', 'the same behind it; each asks private.require_account or require_identity first', [
    'private.act_on_property',
    'private.add_identity',
    'private.change_identity',
    'private.change_me',
    'private.contact_property',
    'private.create_property',
    'private.delete_property',
    'private.list_favorite_ids',
    'private.list_favorites',
    'private.list_my_properties',
    'private.remove_auction',
    'private.set_auction',
    'private.switch_identity',
    'private.update_property',
  ]],
  ['users', 'says of a listing what everybody may know: that it can be saved, that it is gone', [
    'private.may_save',
    'private.is_gone',
  ]],
  ['users', 'answers kept for keys of the calling account only', [
    'private.kept_answer',
    'private.keep_answer',
  ]],
  ['users', 'shapes rows that row security has let through', [
    'private.identity_json',
    'private.identity_record',
    'private.session_topic',
  ]],
  ['all', 'who calls, read from the verified claims and the database', [
    'private.account_id',
    'private.caller_refusal',
    'private.claims',
    'private.expect_identity',
    'private.identity_id',
    'private.require_account',
    'private.require_identity',
    'private.session_id',
  ]],
  ['all', 'works on its arguments alone', [
    'private.ascii_digits',
    'private.cursor_key',
    'private.cursor_mark',
    'private.cursor_of',
    'private.is_clean',
    'private.is_name',
    'private.is_word',
    'private.normal_phone',
    'private.refuse',
    'private.tidy',
  ]],
  ['all', 'raises the verdict that the same message counted before', ['private.entered']],
  ['backend', 'counts before a call', ['private.count_hit', 'private.forget_hit', 'private.enter']],
  ['backend', 'registration, codes, sign-in and deletion of accounts', [
    'private.account_with',
    'private.check_email_free',
    'private.enter_login',
    'private.finish_login',
    'private.finish_reset',
    'private.register_phone',
    'private.release_code',
    'private.request_code',
    'private.request_deletion',
    'private.verify_code',
  ]],
  ['backend', 'jobs', [
    'private.delete_due_accounts',
    'private.expire_listings',
    'private.fold_views',
    'private.sweep_codes',
    'private.sweep_idempotency_keys',
    'private.sweep_office_ranks',
    'private.sweep_rates',
  ]],
]

/** The functions with who may execute them. */
export const reviewed: Record<string, Callers> = Object.fromEntries(
  reviews.flatMap(([by, _why, functions]) => functions.map((name) => [name, by])),
)
