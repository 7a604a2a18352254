/** Conditions without which a function shows or changes more, each with the reason why that is allowed. */
export const survivors: Record<string, string> = {
  'switch_identity: identities.id = switch_identity.identity_id':
    'acts as another identity of the same account',
  'unblock_identity: blocks.identity_id = unblock_identity.identity_id':
    'takes back more blocks of the same account',
}
