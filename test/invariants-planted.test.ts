import { afterAll, beforeAll, expect, test } from 'vitest'
import type pg from 'pg'
import { chk } from './chk.ts'
import { database } from './client.ts'
import { invariants } from './invariants.ts'

// After the areas, whose rows some plants need. All of it is one transaction that is rolled back.
let client: pg.PoolClient

beforeAll(async () => {
  client = await database().connect()
  await client.query('begin')
  await client.query(chk)
})

afterAll(async () => {
  await client.query('rollback')
  client.release()
})

test.each(invariants.filter(({ plant }) => plant))(
  '$id ISO-01 finds what is planted',
  async ({ sql, plant }) => {
    await client.query('savepoint planted')
    await client.query(plant!)
    const { rows } = await client.query(sql)
    await client.query('rollback to savepoint planted')
    expect(rows).not.toEqual([])
  },
)
