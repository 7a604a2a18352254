// Once a day and after a deployment, this tries the entrances of Auth that only the facade may use, because
// hosted projects get new versions of Auth unasked. It uses the decoy account, which has no owner.
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

/** The values are new each time, because Auth may have stored old ones. No Kuwaiti number begins with 0. */
const changes = {
  password: unknownPassword,
  email: () => `${crypto.randomUUID()}@accounts.invalid`,
  phone: () => `9650${someDigits(7)}`,
}

type Door = keyof typeof changes | 'provider'
/** Silent: the value was neither taken nor refused by the fence, for example because Auth was busy. */
type Outcome = 'open' | 'shut' | 'silent'

/** Error texts of the fence (sql/03_accounts/6_events_auth_…). Auth's own refusals prove nothing. */
const refusals = [
  'A password is changed by POST /auth/password/change',
  'Email and phone are not changed at Auth',
  'Auth sends nothing',
]

const isRefusedByFence = ({ message, msg }: Record<string, unknown>) =>
  refusals.some((said) => String(message ?? msg).includes(said))

const idOfDecoy = () => backend<string | null>('account_with', { identifier: decoy.value })

/** Runs one at a time, because each run sets the decoy's password. A turn ends after two minutes. */
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

/** Whether Auth stored the value for the user, even if unconfirmed; undefined if that is unknown. */
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
        // With the version header, Auth would report the fence's refusal as a failure of its own.
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
    // The user may no longer be the decoy, or may stop being it once the change is confirmed.
    if (outcomes.get('email') !== 'shut' || outcomes.get('phone') !== 'shut') {
      await request('DELETE', `/admin/users/${id}`)
      await ensureDecoy()
    }
  }
  return outcomes
}

/** Tries each entrance and returns the open ones. Each raises an alarm until the fence refuses it. */
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

/** Job: runs once a day; a failed try is repeated at the next run. */
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
