/** Scheduled work, run now instead of by the clock. */
import { database, projectUrl, secretKey } from './client.ts'

/** Runs all jobs, as the scheduler does; gives what each of them did. */
export async function runJobs(
  path: 'jobs' | 'jobs/often' = 'jobs',
): Promise<Record<string, { done?: number; error?: string }>> {
  const response = await fetch(`${projectUrl}/functions/v1/${path}`, {
    method: 'POST',
    headers: { apikey: secretKey },
  })
  return await response.json()
}

/**
 * Makes something due, and runs all jobs in the process of a facade that was started with them. One facade
 * at a time: jobs take what is due of everybody, and a facade's provider knows its own charges only.
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

/** Runs one job, which does one thing in each call, until it finds nothing to do. */
export async function drain(name: string) {
  for (;;) {
    const { rows } = await database().query(`select private.${name}() as done`)
    if (!Number(rows[0].done)) return
  }
}
