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

/** Runs one job, which does one thing in each call, until it finds nothing to do. */
export async function drain(name: string) {
  for (;;) {
    const { rows } = await database().query(`select private.${name}() as done`)
    if (!Number(rows[0].done)) return
  }
}
