// Edge function `jobs`: scheduled work, mostly one SQL function per job. `jobs` runs every minute and
// `jobs/often` every few seconds (on hosted projects by supabase/schedule.sql). The deployment calls
// `jobs/address` to see which client address reaches the functions, and `jobs/doors` to check that Auth
// refuses changes that only our API may make.
import { revokeAppleTokens } from '../_shared/auth/apple.ts'
import { isSecretKey } from '../_shared/auth/secrets.ts'
import { ensureDecoy } from '../_shared/auth/supabase-auth.ts'
import { clientAddress } from '../_shared/caller/client-address.ts'
import { backend, type BackendFunction } from '../_shared/database/db.ts'
import { alarm } from '../_shared/errors/alarms.ts'
import { inBackground } from '../_shared/errors/background.ts'
import { inRequest, log } from '../_shared/errors/log.ts'
import { causeOf } from '../_shared/errors/refusal.ts'
import { env } from '../_shared/settings/env.ts'
import { sendAlarms } from './alarms.ts'
import { hashBannedContacts } from './bans.ts'
import { tryDoors, tryDoorsDaily } from './doors.ts'
import { compareFilesAndRows, moveSuspendedFiles, removeUnusedFiles } from './files.ts'
import { sendContactMessages, tellOfCodes } from './messages.ts'
import { lookUpPayments, lookUpRefunds } from './payments.ts'
import { sendPushes } from './push.ts'

/**
 * These functions may safely run concurrently. Each returns how many items it handled, and is called until
 * that is 0.
 */
const sqlJobs: BackendFunction[] = [
  'delete_due_accounts',
  'close_due_identities',
  'notify_of_stopped_deletions',
  'give_up_unreachable_accounts',
  'end_suspensions',
  'end_sessions_left',
  'end_surplus_sessions',
  'expire_licences',
  'expire_invoices',
  'expire_listings',
  'move_area_points',
  'find_duplicates',
  'drop_pushes',
  'count_views',
  'count_search_words',
  'count_suggestions',
  'measure_responses',
  'give_up_payments',
  'downgrade_plans',
  'empty_reports',
  'refresh_area_prices',
  'keep_area_prices',
  'remind_of_plans',
  'report_refused_password',
  'renew_plans',
  'report_missing_rows',
  'report_waiting_acts',
  'purge_alarms',
  'purge_banned_contacts',
  'purge_claims',
  'purge_closed_licences',
  'purge_codes',
  'purge_deleted_listings',
  'purge_hidden_words',
  'purge_idempotency_keys',
  'purge_known_addresses',
  'purge_leads',
  'purge_notification_events',
  'purge_notifications',
  'purge_office_ranks',
  'purge_property_days',
  'purge_publications',
  'purge_rates',
  'purge_social_tokens',
  'purge_suspensions',
  'purge_views',
  'purge_void_lines',
  'forget_payouts',
  'warn_expiring_licences',
  'warn_expiring_listings',
]

const otherJobs: Record<string, () => Promise<number>> = {
  keep_decoy: ensureDecoy,
  tell_of_codes: tellOfCodes,
  try_doors: tryDoorsDaily,
  recount_wallets: () => backend<number>('recount_wallets', {}),
  purge_auth_audit: () => backend<number>('purge_auth_audit', {}),
  look_up_payments: lookUpPayments,
  look_up_refunds: lookUpRefunds,
  move_files: moveSuspendedFiles,
  remove_files: removeUnusedFiles,
  reconcile_media: compareFilesAndRows,
}

/** Jobs with results that users wait for. `jobs/<name>` runs a single one, even if it is already running. */
const frequentJobs: Record<string, () => Promise<number>> = {
  notify_of_sign_ins: () => untilDone('notify_of_sign_ins'),
  notify_of_terms: () => untilDone('notify_of_terms'),
  announce_withdrawals: () => untilDone('announce_withdrawals'),
  fan_out_listing_events: () => untilDone('fan_out_listing_events'),
  retry_deferred_notifications: () => untilDone('retry_deferred_notifications'),
  send_pushes: sendPushes,
  send_contact_messages: sendContactMessages,
  revoke_apple: revokeAppleTokens,
  send_alarms: sendAlarms,
  hash_banned_contacts: hashBannedContacts,
}

async function untilDone(name: BackendFunction, time = 4000): Promise<number> {
  const end = Date.now() + time
  let all = 0
  for (let done = 1; done && Date.now() < end; all += done) done = await backend<number>(name, {})
  return all
}

async function run(name: string, work: () => Promise<number>) {
  const started = performance.now()
  const outcome = await work().then(
    (done) => ({ done }),
    (error) => ({ error: causeOf(error) }),
  )
  // A frequent job is logged only if it did something or failed.
  if (!Object.hasOwn(frequentJobs, name) || !('done' in outcome && outcome.done === 0)) {
    const ms = Math.round(performance.now() - started)
    log('error' in outcome ? 'error' : 'info', { job: name, ...outcome, ms })
  }
  return [name, outcome] as const
}

const running = new Set<string>()

/** Raises an alarm for each failed job and settles the alarms of jobs that succeeded. */
async function reportFailures(outcomes: Awaited<ReturnType<typeof run>>[]) {
  const succeeded = outcomes.filter(([, outcome]) => 'done' in outcome).map(([name]) => name)
  await backend('settle_alarms', { kind: 'job_failed', subjects: succeeded }).catch(() => {})
  for (const [name, outcome] of outcomes) {
    if ('error' in outcome) await alarm('job_failed', name, { why: outcome.error })
  }
}

/** The client address as the functions see it. The deployment derives CLIENT_IP_HOPS from it. */
function seenAddress(request: Request) {
  const forwardedFor = request.headers.get('x-forwarded-for')
  return {
    forwardedFor,
    hops: env.clientIpHops,
    address: clientAddress(forwardedFor ?? undefined),
  }
}

async function runAll(job: string) {
  const outcomes: Awaited<ReturnType<typeof run>>[] = []
  if (job === 'jobs') {
    for (const name of sqlJobs) outcomes.push(await run(name, () => untilDone(name, 10_000)))
    for (const [name, work] of Object.entries(otherJobs)) outcomes.push(await run(name, work))
    await reportFailures(outcomes)
    // This comes last, so that an interrupted run is not recorded as complete.
    await backend('note_jobs_ran', {}).catch(() => {})
  }
  const quick = Object.entries(frequentJobs).filter(([name]) =>
    !Object.hasOwn(frequentJobs, job) || name === job
  )
  // These jobs run in parallel, so that a slow job does not delay pushes. A job that is still running is not
  // started again: otherwise, jobs that wait for a lock could occupy all database connections.
  outcomes.push(
    ...await Promise.all(quick.map(async ([name, work]) => {
      if (job === name) return await run(name, work)
      if (running.has(name)) return [name, { done: 0 }] as const
      running.add(name)
      return await run(name, work).finally(() => running.delete(name))
    })),
  )
  return outcomes
}

async function answer(request: Request): Promise<Response> {
  if (!isSecretKey(request.headers.get('apikey'))) {
    return Response.json({ error: { code: 'token_missing' } }, { status: 401 })
  }
  const job = new URL(request.url).pathname.split('/').at(-1)!
  if (job === 'address') return Response.json(seenAddress(request))
  if (job === 'doors') return Response.json({ open: await tryDoors() })
  const work = runAll(job)
  // The caller may time out before the work is done.
  inBackground(work)
  return Response.json(Object.fromEntries(await work))
}

Deno.serve((request) => inRequest(request.headers.get('traceparent'), () => answer(request)))
