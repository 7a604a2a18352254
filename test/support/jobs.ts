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

/** Runs all jobs in the process of a facade that was started with them. */
export const runJobsOf = (facade: { url: string }) =>
  fetch(facade.url.replace(/\/api$/, '/jobs'), {
    method: 'POST',
    headers: { apikey: secretKey },
  }).then((response) => response.json())

/** Runs one job, which does one thing in each call, until it finds nothing to do. */
export async function drain(name: string) {
  for (;;) {
    const { rows } = await database().query(`select private.${name}() as done`)
    if (!Number(rows[0].done)) return
  }
}
