import { database, projectUrl, secretKey } from './client.ts'
import { waitUntil } from './wait.ts'

/** Waits for other runs, such as the scheduler's, because jobs skip rows that another run has locked. */
async function untilOthersAreDone(query: string) {
  const running = async () => {
    const { rows } = await database().query(
      `select pid || ' ' || xact_start as one from pg_stat_activity
       where pid <> pg_backend_pid() and state <> 'idle' and query like $1`,
      [`%${query}%`],
    )
    return rows.map(({ one }) => one)
  }
  const before = await running()
  if (!before.length) return false
  await waitUntil(`${query} of others is over`, async () => {
    const now = await running()
    return !before.some((one) => now.includes(one))
  })
  return true
}

/** Runs all jobs as the scheduler does, and waits until other runs have finished their database calls. */
export async function runJobs(
  path: 'jobs' | 'jobs/often' = 'jobs',
): Promise<Record<string, { done?: number; error?: string }>> {
  const response = await fetch(`${projectUrl}/functions/v1/${path}`, {
    method: 'POST',
    headers: { apikey: secretKey },
  })
  const outcomes = await response.json()
  await untilOthersAreDone('backend')
  return outcomes
}

/**
 * Makes something due and runs all jobs in the given facade. Only one facade runs jobs at a time: jobs
 * process everyone's rows, and the payment provider inside a facade knows only its own charges.
 */
export async function runJobsOf(
  facade: { url: string },
  makeDue: () => Promise<unknown> = async () => {},
): Promise<Record<string, { done?: number; error?: string }>> {
  const client = await database().connect()
  try {
    await client.query(`select pg_advisory_lock(hashtext('jobs of a facade'))`)
    await makeDue()
    const response = await fetch(facade.url.replace(/\/api$/, '/jobs'), {
      method: 'POST',
      headers: { apikey: secretKey },
    })
    return await response.json()
  } finally {
    await client.query('select pg_advisory_unlock_all()')
    client.release()
  }
}

/** Runs one job until it finds nothing to do and no other run of it is active. */
export async function drain(name: string) {
  do {
    for (let done = 1; done;) {
      const { rows } = await database().query(`select private.${name}() as done`)
      done = Number(rows[0].done)
    }
  } while (await untilOthersAreDone(`private.${name}(`))
}
