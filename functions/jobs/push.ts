import { backend } from '../_shared/database/db.ts'
import { alarm } from '../_shared/errors/alarms.ts'
import { log } from '../_shared/errors/log.ts'
import { causeOf } from '../_shared/errors/refusal.ts'
import { configured, type Outcome, type Push, send } from './fcm.ts'

const batch = 100
const concurrency = 20
/** In milliseconds. After this time a run claims no more pushes and leaves the rest to a later run. */
const runTime = 20_000

// FCM asked us to pause until this time. Claimed pushes are returned to the outbox, and no more are claimed.
let pausedUntil = 0
let lastNotice = 0

const backOff = (attempts: number) => Math.min(3600, 5 * 4 ** (attempts - 1))

/** Seconds until the next attempt: exponential backoff with jitter, and at least as long as FCM requested. */
function waitOf({ wait = 0 }: Outcome, attempts: number, random = Math.random()): number {
  return Math.max(wait, Math.ceil(backOff(attempts) * (0.75 + random / 2)))
}

/** `wait`: seconds until the next attempt. `held`: the pause that FCM itself requested, in seconds. */
async function finish({ id, lease, token }: Push, outcome: string, wait = 0, held = 0) {
  await backend('finish_push', { id, lease, outcome, token, wait, held })
}

async function deliver(push: Push): Promise<boolean> {
  const pause = Math.ceil((pausedUntil - Date.now()) / 1000)
  if (pause > 0) {
    await finish(push, 'wait', pause, pause)
    return false
  }
  const result = await send(push)
  const { outcome, why, alert } = result
  if (outcome !== 'sent') {
    const line = { push: push.id, outcome, why, attempts: push.attempts }
    if (alert) alarm('push_failed', 'fcm', line)
    else log('info', line)
  }
  if (result.all) {
    const seconds = result.wait ?? 0
    pausedUntil = Math.max(pausedUntil, Date.now() + seconds * 1000)
    await backend('pause_pushes', { seconds })
  }
  await finish(push, outcome, waitOf(result, push.attempts), result.wait)
  return outcome === 'sent'
}

async function deliverAll(pushes: Push[]): Promise<number> {
  let sent = 0
  const next = pushes.values()
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (const push of next) {
      try {
        if (await deliver(push)) sent++
      } catch (error) {
        // The database could not be reached. The lease will expire on its own.
        const why = causeOf(error as Error)
        log('warn', { push: push.id, error: why })
        await alarm('job_failed', 'send_pushes', { push: push.id, why })
      }
    }
  }))
  return sent
}

export async function sendPushes(): Promise<number> {
  if (!configured) {
    if (Date.now() - lastNotice > 60_000 && await backend<boolean>('has_pushes', {})) {
      lastNotice = Date.now()
      await alarm('push_not_configured', 'fcm')
    }
    return 0
  }
  const end = Date.now() + runTime
  let sent = 0
  while (Date.now() < end && Date.now() >= pausedUntil) {
    const pushes = await backend<Push[]>('claim_pushes', { batch })
    sent += await deliverAll(pushes)
    if (pushes.length < batch) break
  }
  return sent
}
