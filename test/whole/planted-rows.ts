// Inserts rows of one account and identity into every table, in the transaction of the test.
import type pg from 'pg'
import { insertListing } from '../support/fixtures.ts'
import { tables } from './matrix-outcomes.ts'

/** Inserts these rows and returns the listing's id. */
export async function plantRows(client: pg.PoolClient, account: string, identity: string) {
  const property = await insertListing(identity, {}, client)
  const values: Record<string, string> = { account, identity, property }
  for (const { plant } of Object.values(tables)) {
    if (plant) await client.query(plant.replace(/:(\w+)/g, (_, name) => `'${values[name]}'`))
  }
  return property
}

export async function converse(client: pg.PoolClient, ...identities: string[]) {
  await client.query(
    `with made as (
       insert into public.conversations (pair_key) values (gen_random_uuid()) returning id
     )
     insert into public.participants (conversation_id, identity_id, account_id)
     select made.id, identities.id, identities.account_id
     from made, public.identities where identities.id = any ($1)`,
    [identities],
  )
}

export const claimsOf = ({ accessToken }: { accessToken: string }) =>
  Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()
