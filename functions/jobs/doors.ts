/**
 * The doors of Auth that only the facade may use, tried once a day and after a deployment: hosted projects
 * get new versions of Auth unasked. The account is the decoy, as which nobody signs in.
 */
import { alarm, settleAlarm } from '../_shared/alarms.ts'
import { unknownPassword } from '../_shared/crypto.ts'
import { backend } from '../_shared/db.ts'
import {
  createDecoy,
  decoy,
  discardSession,
  request,
  resetPassword,
  signIn,
} from '../_shared/supabase-auth.ts'

const kind = 'auth_door_open'

/** What anybody with an access token may ask of Auth, and must not get. */
const changes = {
  password: () => ({ password: unknownPassword() }),
  email: () => ({ email: 'doors@accounts.invalid' }),
  phone: () => ({ phone: '96500000000' }),
}

const idOfDecoy = () => backend<string | null>('account_with', { identifier: decoy.value })

/** Tries each door, and gives those that open; each of them is an alarm until it is shut. */
export async function tryDoors(): Promise<string[]> {
  if (!await idOfDecoy()) await createDecoy()
  const id = (await idOfDecoy())!
  const password = unknownPassword()
  await resetPassword(id, decoy, password)
  const tokens = await signIn(decoy, password, '127.0.0.1')
  if (!tokens || 'denied' in tokens) throw new Error('the decoy cannot sign in')
  const contact = async () => {
    const { email, phone, new_email, new_phone } = (await request('GET', `/admin/users/${id}`)).body
    return JSON.stringify([email, phone, new_email, new_phone])
  }
  const before = await contact()
  const open: string[] = []
  for (const [door, change] of Object.entries(changes)) {
    const body = { ...change(), current_password: password }
    const { status } = await request('PUT', '/user', { token: tokens.access_token, body })
    const opened = door === 'password' ? status === 200 : await contact() !== before
    if (opened) open.push(door)
  }
  if (await backend<boolean>('try_provider_door', { accountId: id })) open.push('provider')
  await discardSession(tokens)
  for (const door of [...Object.keys(changes), 'provider']) {
    if (open.includes(door)) await alarm(kind, door)
    else settleAlarm(kind, door)
  }
  return open
}

/** Job: once a day; what failed is tried again at the next run. */
export async function tryDoorsDaily(): Promise<number> {
  const moment = { name: 'doors_tried' }
  if (!await backend<boolean>('claim_moment', { ...moment, every: '1 day' })) return 0
  try {
    await tryDoors()
    return 1
  } catch (error) {
    await backend('release_moment', moment)
    throw error
  }
}
