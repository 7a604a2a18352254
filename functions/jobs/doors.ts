// Hosted projects receive new versions of Auth without asking for them. So once a day and after each
// deployment, this checks that Auth still refuses changes that only our API may make. It tries them on the
// decoy account, which belongs to nobody.
import { unknownPassword } from '../_shared/auth/secrets.ts'
import {
  decoy,
  discardSession,
  ensureDecoy,
  request,
  resetPassword,
  signIn,
} from '../_shared/auth/supabase-auth.ts'
import { backend } from '../_shared/database/db.ts'
import { alarm, settleAlarm } from '../_shared/errors/alarms.ts'

const kind = 'auth_door_open'

const someDigits = (count: number) =>
  String(crypto.getRandomValues(new Uint32Array(1))[0]! % 10 ** count).padStart(count, '0')

/**
 * Each call makes a new value, because Auth may have stored an earlier one. No Kuwaiti number begins with 0.
 */
const changes = {
  password: unknownPassword,
  email: () => `${crypto.randomUUID()}@accounts.invalid`,
  phone: () => `9650${someDigits(7)}`,
}

type Door = keyof typeof changes | 'provider'
/**
 * `silent`: Auth did not store the value, but our triggers did not refuse it either, for example because Auth
 * was busy.
 */
type Outcome = 'open' | 'shut' | 'silent'

/**
 * Errors raised by our own triggers and hooks (sql/03_accounts/6_events_auth_…). Other errors of Auth do not
 * prove that the change is blocked.
 */
const refusals = [
  'A password is changed by POST /auth/password/change',
  'Email and phone are not changed at Auth',
  'Auth sends nothing',
]

const isRefusedByFence = ({ message, msg }: Record<string, unknown>) =>
  refusals.some((said) => String(message ?? msg).includes(said))

const idOfDecoy = () => backend<string | null>('account_with', { identifier: decoy.value })

/**
 * Runs `work` exclusively, because each run sets the decoy's password. The lock expires after two minutes.
 */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  const claim = () =>
    backend<string | null>('claim_timestamp', { name: 'doors', every: '2 minutes' })
  const end = Date.now() + 120_000
  let claimed = await claim()
  while (!claimed) {
    if (Date.now() > end) throw new Error('others have tried the doors for two minutes')
    await new Promise((resolve) => setTimeout(resolve, 500))
    claimed = await claim()
  }
  try {
    return await work()
  } finally {
    await backend('release_timestamp', { name: 'doors', claimed })
  }
}

/** Whether Auth stored the value for the user, confirmed or not. Undefined if the user could not be read. */
async function hasTaken(id: string, value: string): Promise<boolean | undefined> {
  const { status, body } = await request('GET', `/admin/users/${id}`)
  if (status !== 200) return undefined
  return [body.email, body.phone, body.new_email, body.new_phone].includes(value)
}

async function tryEach(id: string): Promise<Map<Door, Outcome>> {
  const current = unknownPassword()
  await resetPassword(id, decoy, current)
  const tokens = await signIn(decoy, current, '127.0.0.1')
  if (!tokens || 'denied' in tokens) throw new Error('the decoy cannot sign in')
  const outcomes = new Map<Door, Outcome>()
  try {
    for (const [name, change] of Object.entries(changes)) {
      const value = change()
      const { status, body } = await request('PUT', '/user', {
        token: tokens.access_token,
        body: { [name]: value, current_password: current },
        // With the version header, Auth would report the error of our trigger as an internal error.
        versioned: false,
      })
      const opened = name === 'password' ? status === 200 : await hasTaken(id, value)
      const isShut = opened === false && (status === 200 || isRefusedByFence(body))
      outcomes.set(name as Door, opened ? 'open' : isShut ? 'shut' : 'silent')
    }
    const open = await backend<boolean>('try_provider_door', { accountId: id })
    outcomes.set('provider', open ? 'open' : 'shut')
  } finally {
    await discardSession(tokens)
    // If the email or phone was changed, or may change once it is confirmed, this user is no longer the
    // decoy.
    if (outcomes.get('email') !== 'shut' || outcomes.get('phone') !== 'shut') {
      await request('DELETE', `/admin/users/${id}`)
      await ensureDecoy()
    }
  }
  return outcomes
}

/**
 * Tries every change and returns the ones that succeeded. Each raises an alarm, which is settled once our
 * triggers refuse the change again.
 */
export async function tryDoors(): Promise<string[]> {
  const outcomes = await alone(async () => {
    await ensureDecoy()
    return await tryEach((await idOfDecoy())!)
  })
  for (const [door, outcome] of outcomes) {
    if (outcome === 'open') await alarm(kind, door)
    else if (outcome === 'shut') settleAlarm(kind, door)
  }
  return [...outcomes].filter(([, outcome]) => outcome === 'open').map(([door]) => door)
}

/** Job: does its work once a day. If it fails, the next run tries again. */
export async function tryDoorsDaily(): Promise<number> {
  const timestamp = { name: 'doors_tried', every: '1 day' }
  const claimed = await backend<string | null>('claim_timestamp', timestamp)
  if (!claimed) return 0
  try {
    await tryDoors()
    return 1
  } catch (error) {
    await backend('release_timestamp', { name: timestamp.name, claimed })
    throw error
  }
}
