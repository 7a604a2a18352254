/**
 * The doors of Auth that only the facade may use, tried once a day and after a deployment: hosted projects
 * get new versions of Auth unasked. The account is the decoy, as which nobody signs in.
 */
import { alarm, settleAlarm } from '../_shared/alarms.ts'
import { unknownPassword } from '../_shared/crypto.ts'
import { backend } from '../_shared/db.ts'
import {
  decoy,
  discardSession,
  ensureDecoy,
  request,
  resetPassword,
  signIn,
} from '../_shared/supabase-auth.ts'

const kind = 'auth_door_open'

const someDigits = (count: number) =>
  String(crypto.getRandomValues(new Uint32Array(1))[0]! % 10 ** count).padStart(count, '0')

/**
 * What anybody with an access token may ask of Auth, and must not get. New ones each time: what Auth kept of
 * an earlier try says nothing. Nobody has them; no number in Kuwait begins with 0.
 */
const changes = {
  password: unknownPassword,
  email: () => `${crypto.randomUUID()}@accounts.invalid`,
  phone: () => `9650${someDigits(7)}`,
}

type Door = keyof typeof changes | 'provider'
/** Silent: neither opened nor refused by the fence, as by an Auth that is too busy. */
type Outcome = 'open' | 'shut' | 'silent'

/** What the fence says (sql/03_accounts/6_events_auth_…). What Auth refuses for a reason of its own proves nothing. */
const refusals = [
  'A password is changed by POST /auth/password/change',
  'Email and phone are not changed at Auth',
  'Auth sends nothing',
]

const isRefusedByFence = ({ message, msg }: Record<string, unknown>) =>
  refusals.some((said) => String(message ?? msg).includes(said))

const idOfDecoy = () => backend<string | null>('account_with', { identifier: decoy.value })

/**
 * One try at a time: each sets the decoy's password. One that was cut off is waited for two minutes; one that
 * takes longer than that has lost its place to another.
 */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  const claim = () => backend<string | null>('claim_moment', { name: 'doors', every: '2 minutes' })
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
    await backend('release_moment', { name: 'doors', claimed })
  }
}

/** Whether Auth has, or keeps for a confirmation, this email or phone of the user; undefined: it does not say. */
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
        versioned: false, // or the fence's own refusal is a failure of Auth's
      })
      const opened = name === 'password' ? status === 200 : await hasTaken(id, value)
      const isShut = opened === false && (status === 200 || isRefusedByFence(body))
      outcomes.set(name as Door, opened ? 'open' : isShut ? 'shut' : 'silent')
    }
    const open = await backend<boolean>('try_provider_door', { accountId: id })
    outcomes.set('provider', open ? 'open' : 'shut')
  } finally {
    await discardSession(tokens)
    // It may be the decoy no more, or will not be once somebody confirms that.
    if (outcomes.get('email') !== 'shut' || outcomes.get('phone') !== 'shut') {
      await request('DELETE', `/admin/users/${id}`)
      await ensureDecoy()
    }
  }
  return outcomes
}

/** Tries each door, and gives those that open; each of them is an alarm until it is refused. */
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

/** Job: once a day; what failed is tried again at the next run. */
export async function tryDoorsDaily(): Promise<number> {
  const moment = { name: 'doors_tried', every: '1 day' }
  const claimed = await backend<string | null>('claim_moment', moment)
  if (!claimed) return 0
  try {
    await tryDoors()
    return 1
  } catch (error) {
    await backend('release_moment', { name: moment.name, claimed })
    throw error
  }
}
