// Simulated people who act by a simulated clock. Each is a generator that yields the
// seconds until the next action.
import { randomUUID } from 'node:crypto'
import { database, inboxOf, newPhone, type Reply } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'

export type Post = (path: string, body: object) => Promise<Reply>
type Act = AsyncGenerator<number, void>

/**
 * Ages valid codes and rate limit counters, except those per number, because no number is used twice here.
 */
const age = (seconds: number) =>
  database().query(
    `update private.rate_hits set expires_at = expires_at - step, hits = array(
       select hit - step from unnest(hits) as hit order by hit)
     from make_interval(secs => ${seconds}) as step
     where rule like '%\\_address' or rule = 'code_service';
     update private.codes set created_at = created_at - step
     from make_interval(secs => ${seconds}) as step where created_at > now() - interval '10 minutes';
     update private.registrations set created_at = created_at - step
     from make_interval(secs => ${seconds}) as step where created_at > now() - interval '10 minutes'`,
  )

export class Clock {
  private readonly began = Date.now()
  private moved = 0
  private readonly acts: { at: number; act: Act }[] = []

  get now() {
    return this.moved + (Date.now() - this.began) / 1000
  }

  at(seconds: number, act: Act) {
    this.acts.push({ at: seconds, act })
  }

  async run() {
    while (this.acts.length) {
      this.acts.sort((one, other) => one.at - other.at)
      const { at, act } = this.acts.shift()!
      const step = at - this.now
      if (step > 0) {
        this.moved += step
        await age(step)
      }
      const { done, value } = await act.next()
      if (!done) this.at(this.now + value, act)
    }
  }
}

async function codeOf(phone: string, sent: number): Promise<string> {
  await waitUntil(`${sent} codes to ${phone}`, async () => (await inboxOf(phone)).length >= sent)
  return (await inboxOf(phone))[0]!.code
}

/** When a person began to register, and the seconds that it took (infinite if the person gave up). */
export type Registered = { began: number; took: number }

/** Registers a phone. The person takes twenty seconds to type and, if `asksTwice`, requests a second code. */
export async function* newcomer(
  clock: Clock,
  post: Post,
  registered: Registered[],
  { asksTwice = false, patience = 300 } = {},
): Act {
  const phone = newPhone()
  const record = { began: clock.now, took: Infinity }
  registered.push(record)
  const left = () => record.began + patience - clock.now
  let reply: Reply
  const repeated = async (path: string, body: object, ok: number) => {
    reply = await post(path, body)
    return reply.status === ok ? 0 : reply.body.error.retryAfter ?? Infinity
  }
  const register = { identifier: phone, password: randomUUID() }
  for (let wait; (wait = await repeated('/register', register, 201)) > 0;) {
    if (wait > left()) return
    yield wait
  }
  const { registrationId } = reply!.body
  if (asksTwice) {
    yield 50
    const again = { identifier: phone, purpose: 'register', registrationId }
    for (let wait; (wait = await repeated('/otp/resend', again, 202)) > 0;) {
      if (wait > left()) return
      yield wait
    }
  }
  const code = await codeOf(phone, asksTwice ? 2 : 1)
  yield 20
  reply = await post('/register/verify-otp', { identifier: phone, code, registrationId })
  if (reply.status === 200) record.took = clock.now - record.began
}

export async function* attacker(clock: Clock, post: Post, end: number, sent: number[]): Act {
  while (clock.now < end) {
    for (;;) {
      // The service counts the request at some time after this. The response does not contain
      // the time and may arrive late.
      const requestedAt = clock.now
      const reply = await post('/register', { identifier: newPhone(), password: randomUUID() })
      if (reply.status === 201) {
        sent.push(requestedAt)
        continue
      }
      await post('/password/forgot', { identifier: newPhone() })
      yield reply.body.error.retryAfter
      break
    }
  }
}

export const mostInAnHour = (times: number[]) =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 3600).length))
