import pg from 'pg'
import { databaseAt } from '../../local/schema/connection.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { database, type Person, projectUrl, secretKey, signUp } from '../support/client.ts'
import { alarmsAbout, topUpInvoice } from '../support/money.ts'
import { bulk } from '../support/nightly.ts'
import { expectWithin } from '../support/promised-times.ts'
import { waitUntil } from '../support/wait.ts'
import { givePlan } from '../support/plans.ts'
import { insertListing } from '../support/fixtures.ts'

const runJobs = async () => {
  const response = await fetch(`${projectUrl}/functions/v1/jobs`, {
    method: 'POST',
    headers: { apikey: secretKey },
  })
  return await response.json()
}

describe('many old rows are gone, a share at a time', () => {
  let person: Person
  let gone: Person
  let client: pg.Client

  beforeAll(async () => {
    ;[person, gone] = await Promise.all([signUp(), signUp()])
    await database().query('delete from auth.users where id = $1', [gone.id])
    client = new pg.Client(databaseAt(variable('DATABASE_URL')!))
    await client.connect()
    await client.query(`set edits.by = 'tests'; set statement_timeout = 0`)
  })

  afterAll(() => client.end())

  const many = `generate_series(1, ${bulk(50_000, 10_000)}) as n`
  const planted: [job: string, table: string, insert: string, old: string][] = [
    [
      'purge_rates',
      'private.rate_hits',
      `(rule, subject, hits, expires_at)
       select 'favorites', 'planted ' || n, array[now()], now() - interval '1 hour' from ${many}`,
      `subject like 'planted %'`,
    ],
    [
      'purge_codes',
      'private.codes',
      `(purpose, identifier, hmac, created_at)
       select 'reset', 'planted ' || n, '\\x00', now() - interval '2 days' from ${many}`,
      `identifier like 'planted %'`,
    ],
    [
      'purge_codes',
      'private.sms_sent',
      `(hour, sent) select now() - interval '3 days' - n * interval '1 hour', 1 from ${many}`,
      `hour < now() - interval '2 days'`,
    ],
    [
      'purge_codes',
      'private.registrations',
      `(id, phone, sealed_password, created_at)
       select gen_random_uuid(), 'planted ' || n, '', now() - interval '2 days' from ${many}`,
      `phone like 'planted %'`,
    ],
    [
      'purge_codes',
      'private.contact_changes',
      `(account_id, act, kind, value, done_at, expires_at)
       select $1, 'reset', 'phone', 'planted ' || n, now(), now() - interval '1 hour' from ${many}`,
      `value like 'planted %'`,
    ],
    [
      'purge_codes',
      'private.contact_messages',
      `(account_id, sent_to, body, due_at, created_at)
       select $1, 'planted ' || n, '', now() + interval '1 day', now() - interval '2 days' from ${many}`,
      `sent_to like 'planted %'`,
    ],
    [
      'purge_codes',
      'private.email_claims',
      `(email, claimed_at) select 'planted ' || n, now() - interval '2 hours' from ${many}`,
      `email like 'planted %'`,
    ],
    [
      'purge_codes',
      'private.email_registrations',
      `(account_id, subject, created_at) select $1, 'planted ' || n, now() - interval '2 days' from ${many}`,
      `subject like 'planted %'`,
    ],
    [
      'purge_idempotency_keys',
      'private.idempotency_keys',
      `(account_id, key, request_hash, created_at)
       select $1, 'planted ' || n, '\\x00', now() - interval '2 days' from ${many}`,
      `key like 'planted %'`,
    ],
    [
      'purge_notification_events',
      'private.notification_events',
      // The oldest rows have the lowest ids.
      `(id, kind, property_id, notified_at, created_at) overriding system value
       select -n, 'favorite_price_drop', gen_random_uuid(),
         case when n % 2 = 0 then now() - interval '2 days' end, now() - interval '3 days'
       from ${many}`,
      `created_at < now() - interval '2 days'`,
    ],
    [
      'purge_social_tokens',
      'private.social_tokens',
      `(key, expires_at) select 'planted ' || n, now() - interval '1 hour' from ${many}`,
      `key like 'planted %'`,
    ],
    [
      'purge_notifications',
      'public.notifications',
      `(account_id, kind, title_ar, body_ar, title_en, body_en, route, read_at, created_at)
       select $1, 'system', 'x', 'x', 'x', 'x', 'notifications', now(), now() - interval '200 days'
       from ${many}`,
      `created_at < now() - interval '180 days'`,
    ],
    [
      'purge_office_ranks',
      'private.office_ranks',
      `(identity_id, rating, since, until)
       select gen_random_uuid(), 3.5, now() - interval '9 hours', now() - interval '8 hours' from ${many}`,
      `until < now() - interval '7 hours'`,
    ],
    [
      'purge_publications',
      'private.publications',
      `(property_id, type, published_at, since, until)
       select gen_random_uuid(), 'SALE', now() - interval '9 hours', now() - interval '9 hours',
         now() - interval '8 hours' from ${many}`,
      `until < now() - interval '7 hours'`,
    ],
    [
      'purge_views',
      'private.property_views',
      `(property_id, identity_id, day, counted)
       select gen_random_uuid(), gen_random_uuid(), now()::date - 9, n % 2 = 0 from ${many}`,
      'day < now()::date - 8',
    ],
    [
      'purge_property_days',
      'private.property_days',
      `(property_id, day) select gen_random_uuid(), now()::date - 99 from ${many}`,
      'day < now()::date - 98',
    ],
    [
      'purge_alarms',
      'private.alarms',
      `(kind, subject_id, settled_at)
       select 'planted', n::text, now() - interval '400 days' from ${many}`,
      `kind = 'planted'`,
    ],
    // Two of the entries belong to nobody, all others to a deleted person.
    [
      'purge_auth_audit',
      'auth.audit_log_entries',
      `(id, payload, created_at)
       select gen_random_uuid(), case n when 1 then '{"actor_id":"planted"}' when 2 then null
         else json_build_object('actor_id', $2::uuid, 'actor_username', 'planted', 'action', 'login',
           'actor_name', repeat('x', 100)) end,
         now() from ${many}`,
      `payload ->> 'actor_username' = 'planted'`,
    ],
    [
      'drop_pushes',
      'private.push_outbox',
      `(account_id, device_id, collapse_key, category, title, body, data, exempt, due_at, expires_at)
       select $1, 'planted', 'planted ' || n, 'system', 'x', 'x', '{}', true,
         now() - interval '2 days', now() - interval '1 day' from ${many}`,
      `collapse_key like 'planted %'`,
    ],
  ]

  test.each(planted)('%s, %s', async (job, table, insert, old) => {
    if (job === 'drop_pushes') {
      await client.query(
        `insert into public.devices (account_id, device_id, session_id, platform, push_token)
         select user_id, 'planted', id, 'ios', gen_random_uuid() from auth.sessions
         where user_id = $1`,
        [person.id],
      )
    }
    await client.query(
      `insert into ${table} ${insert.replace('$2', `'${gone.id}'`)}`,
      insert.includes('$1') ? [person.id] : [],
    )
    const left = async () =>
      Number((await database().query(`select count(*) from ${table} where ${old}`)).rows[0].count)
    expect(await left()).toBeGreaterThan(0)
    let [most, slowest] = [0, 0]
    // The purge skips rows that another job has locked, so they remain for the next run.
    await waitUntil('all are gone', async () => {
      for (let done = 1; done > 0;) {
        const began = performance.now()
        done = Number((await client.query(`select private.${job}() as done`)).rows[0].done)
        slowest = Math.max(slowest, performance.now() - began)
        most = Math.max(most, done)
      }
      return await left() === 0
    })
    expect(most).toBeLessThanOrEqual(3000)
    expectWithin('a purge deletes its share', slowest)
  })

  test('one run of the jobs removes them too', async () => {
    await client.query(
      `insert into private.rate_hits (rule, subject, hits, expires_at)
       select 'favorites', 'planted ' || n, array[now()], now() - interval '1 hour' from ${many}`,
    )
    await runJobs()
    const { rows } = await client.query(
      `select from private.rate_hits where subject like 'planted %'`,
    )
    expect(rows).toHaveLength(0)
  })
})

describe('a row that a job fails on', () => {
  async function withPoison(
    { table, state, after, id }: { table: string; state: string; after: string; id: string },
    work: () => Promise<void>,
  ) {
    await database().query(
      `create function private.planted() returns trigger language plpgsql as
       $$ begin raise exception 'planted'; end $$;
       create trigger planted before update on ${table} for each row
       when (new.id = '${id}' and new.${state} = '${after}' and old.${state} <> '${after}')
       execute function private.planted()`,
    )
    try {
      await work()
    } finally {
      await database().query(
        `drop trigger planted on ${table}; drop function private.planted()`,
      )
    }
  }

  const past = `now() - interval '1 second'`
  const cases: [
    step: string,
    table: string,
    state: string,
    after: string,
    make: (person: Person) => Promise<string>,
    due: string,
  ][] = [
    [
      'downgrade_plan',
      'public.subscriptions',
      'status',
      'expired',
      (person) => givePlan(person.identityId, 'plus'),
      `starts_at = now() - interval '40 days', ends_at = ${past}`,
    ],
    [
      'expire_invoice',
      'public.invoices',
      'state',
      'expired',
      async (person) => (await topUpInvoice(person)).id,
      `due_at = ${past}`,
    ],
    [
      'expire_listing',
      'public.properties',
      'status',
      'expired',
      (person) => insertListing(person.identityId),
      `expires_at = ${past}`,
    ],
    [
      'end_suspension',
      'public.accounts',
      'status',
      'active',
      (person) => Promise.resolve(person.id),
      `status = 'suspended', suspended_until = ${past}`,
    ],
  ]

  test.each(cases)(
    '%s: the others are done, an alarm is raised, and it is retried later',
    async (step, table, state, after, make, due) => {
      const [odd, good] = await Promise.all([signUp(), signUp()])
      const [bad, fine] = [await make(odd), await make(good)]
      const stateOf = async (id: string) =>
        (await database().query(`select ${state} as state from ${table} where id = $1`, [id]))
          .rows[0].state
      const alarm = `${step} ${bad}`
      await withPoison({ table, state, after, id: bad }, async () => {
        // The rows become due only now, because the stack's own scheduler may run a job at any moment.
        await database().query(`update ${table} set ${due} where id = any ($1)`, [[bad, fine]])
        for (let runs = 0; runs < 2; runs++) {
          for (const [job, outcome] of Object.entries(await runJobs())) {
            expect(outcome, job).toEqual({ done: expect.any(Number) })
          }
        }
        expect(await stateOf(fine)).toBe(after)
        expect(await stateOf(bad)).not.toBe(after)
        expect(await alarmsAbout(alarm)).toEqual(['job_failed'])
      })
      // The job skips the row for an hour, so that many such rows cannot block all others.
      await runJobs()
      expect(await stateOf(bad)).not.toBe(after)
      await database().query(
        `update private.alarms set seen_at = seen_at - interval '2 hours' where subject_id = $1`,
        [alarm],
      )
      await runJobs()
      expect(await stateOf(bad)).toBe(after)
      const { rows } = await database().query(
        `select settled_at is not null as settled from private.alarms where subject_id = $1`,
        [alarm],
      )
      expect(rows).toEqual([{ settled: true }])
    },
  )

  test('one that uses up its statement timeout costs the others nothing', async () => {
    const client = await database().connect()
    try {
      await client.query('begin')
      await client.query(
        `create function private.planted_step(n integer) returns boolean language plpgsql as
         $$ begin
           if n = 2 then perform pg_sleep(30); end if;
           return true;
         end $$`,
      )
      await client.query(`set local statement_timeout = '3s'`)
      const { rows } = await client.query(
        `select private.for_each('planted_step', array['1', '2', '3']) as done`,
      )
      expect(Number(rows[0].done)).toBe(1)
      const reported = await client.query(
        `select details ->> 'code' as code from private.alarms where subject_id = 'planted_step 2'`,
      )
      expect(reported.rows).toEqual([{ code: '57014' }])
      expect(
        (await client.query(`select private.failed_recently('planted_step', '2') as rests`)).rows,
      ).toEqual([{ rests: true }])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('a job that fails as a whole is an alarm until it goes well again', async () => {
    await database().query('alter function private.purge_rates() rename to purge_rates_away')
    try {
      // A Postgres error message may repeat input, so only the code and the routine that
      // raised the error are returned.
      expect(await runJobs()).toMatchObject({
        purge_rates: { error: expect.stringMatching(/^42883 \w+$/) },
      })
      expect(await alarmsAbout('purge_rates')).toContain('job_failed')
    } finally {
      await database().query('alter function private.purge_rates_away() rename to purge_rates')
    }
    await runJobs()
    const { rows } = await database().query(
      `select from private.alarms where subject_id = 'purge_rates' and settled_at is null`,
    )
    expect(rows).toHaveLength(0)
  })
})
