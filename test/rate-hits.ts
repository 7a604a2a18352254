/** What was counted of a subject: planted, looked at, made older. */
import { database } from './client.ts'

/** Hits of a moment ago: so the edge of a large rate need not be walked up to. */
export async function spend(rule: string, subject: string, hits: number) {
  await database().query(
    `insert into private.rate_hits (rule, subject, hits, expires_at)
     values ($1, $2, array(
       select clock_timestamp() - make_interval(secs => 20 - nth * 0.001)
       from generate_series(1, $3) as nth
     ), clock_timestamp() + interval '1 day')
     on conflict on constraint rate_hits_pkey do update set hits = excluded.hits`,
    [rule, subject, hits],
  )
}

/** How many hits of a subject are kept. */
export async function hitsOf(rule: string, subject: string): Promise<number> {
  const { rows: [row] } = await database().query(
    'select cardinality(hits) as hits from private.rate_hits where rule = $1 and subject = $2',
    [rule, subject],
  )
  return row?.hits ?? 0
}

/** Lets time pass: the hits of a subject become older. */
export async function age(subject: string, seconds: number) {
  await database().query(
    `update private.rate_hits
     set hits = array(select at - make_interval(secs => $2) from unnest(hits) as at order by at)
     where subject = $1`,
    [subject, seconds],
  )
}
