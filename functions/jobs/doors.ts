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
/** Silent: neither opened nor refused, as by an Auth that is too busy. */
type Outcome = 'open' | 'shut' | 'silent'

const idOfDecoy = () => backend<string | null>('account_with', { identifier: decoy.value })

/** One try at a time: each sets the decoy's password. One that was cut off is waited for two minutes. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  const moment = { name: 'doors' }
  while (!await backend<boolean>('claim_moment', { ...moment, every: '2 minutes' })) {
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  try {
    return await work()
  } finally {
    await backend('release_moment', moment)
  }
}

/** Whether Auth has, or keeps for a confirmation, this email or phone of the user. */
async function hasTaken(id: string, value: string): Promise<boolean> {
  const { email, phone, new_email, new_phone } = (await request('GET', `/admin/users/${id}`)).body
  return [email, phone, new_email, new_phone].includes(value)
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
      const { status } = await request('PUT', '/user', {
        token: tokens.access_token,
        body: { [name]: value, current_password: current },
        versioned: false, // or the fence's own refusal is a failure of Auth's
      })
      const refused = status >= 400 && status < 500 && status !== 429
      const opened = name === 'password' ? status === 200 : await hasTaken(id, value)
      outcomes.set(name as Door, opened ? 'open' : refused || status === 200 ? 'shut' : 'silent')
    }
    const open = await backend<boolean>('try_provider_door', { accountId: id })
    outcomes.set('provider', open ? 'open' : 'shut')
  } finally {
    await discardSession(tokens)
    // It is the decoy no more, or will not be once somebody confirms that.
    if ([outcomes.get('email'), outcomes.get('phone')].includes('open')) {
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
