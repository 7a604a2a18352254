/** Conditions whose loss shows or changes more all the same, each with the reason why it may. */
export const survivors: Record<string, string> = {
  'switch_identity: identities.id = switch_identity.identity_id':
    'acts as another identity of the same account',
  'unblock_identity: blocks.identity_id = unblock_identity.identity_id':
    'takes back more blocks of the same account',
}
