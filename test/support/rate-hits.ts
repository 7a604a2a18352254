import { database } from './client.ts'

/** Replaces the requests counted for a subject (`hits`), to reach large limits with few requests. */
export async function plantHits(rule: string, subject: string, hits: number) {
  await database().query(
    `insert into private.rate_hits (rule, subject, hits, expires_at)
     select $1, $2, array(
       select clock_timestamp() - make_interval(secs => ($3 - nth) * 0.001)
       from generate_series(1, $3) as nth
     ), clock_timestamp() + make_interval(secs => seconds)
     from private.rates where rates.rule = $1
     on conflict (rule, subject) do update
     set hits = excluded.hits, expires_at = excluded.expires_at`,
    [rule, subject, hits],
  )
}

export async function hitsOf(rule: string, subject: string): Promise<number> {
  const { rows: [row] } = await database().query(
    'select cardinality(hits) as hits from private.rate_hits where rule = $1 and subject = $2',
    [rule, subject],
  )
  return row?.hits ?? 0
}

export async function hitsByRule(like: string, ...subjects: string[]) {
  const { rows } = await database().query(
    `select rule, cardinality(hits) as hits
     from private.rate_hits
     where rule like $1 and subject = any ($2) and hits <> '{}' order by rule, 2 desc`,
    [like, subjects],
  )
  return rows.map(({ rule, hits }) => [rule, hits])
}

export async function ageHits(seconds: number, ...subjects: string[]) {
  await database().query(
    `update private.rate_hits
     set hits = array(select at - make_interval(secs => $2) from unnest(hits) as at order by at),
       expires_at = expires_at - make_interval(secs => $2)
     where subject = any ($1)`,
    [subjects, seconds],
  )
}
