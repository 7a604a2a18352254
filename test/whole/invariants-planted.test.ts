import { beforeAll, expect, test } from 'vitest'
import { conventions } from '../../local/schema/conventions.ts'
import { database } from '../support/client.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import { invariants } from './invariant-checks.ts'
import { publishListing } from '../support/listings.ts'
import { topUpInvoice } from '../support/money.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadPictures } from '../support/uploads.ts'

beforeAll(async () => {
  const { a, b, conversationId: id } = await startConversation()
  await postMessage(a, id)
  const { id: propertyId } = await publishListing(b)
  const pictures = [1, 2].map((shade) => jpeg({ width: 16, height: 16, shade }))
  await uploadPictures(b, pictures, { propertyId })
  await topUpInvoice(b)
})

test.each(invariants.filter(({ plant }) => plant))(
  '$id ISO-01 finds what is planted: $says',
  async ({ sql, plant }) => {
    const client = await database().connect()
    try {
      await client.query('begin')
      expect((await client.query(sql)).rows).toEqual([])
      await client.query(plant!)
      expect((await client.query(sql)).rows).not.toEqual([])
    } finally {
      await client.query('rollback')
      client.release()
    }
  },
)

// Objects like those of extensions and the platform: a separate schema, and policies on Supabase's tables.
const elsewhere = `
  create schema elsewhere;
  grant usage on schema elsewhere to anon, authenticated;
  create table elsewhere."Planted" (id integer, other integer, note text);
  alter table elsewhere."Planted" add constraint planted check (id > 0) not valid;
  create unique index on elsewhere."Planted" (id);
  create table elsewhere.refers (
    id integer references elsewhere."Planted" (id), email text default 'Not Normal'
  );
  create sequence elsewhere.counted;
  create view elsewhere.seen as select * from elsewhere."Planted";
  create materialized view elsewhere.kept as select * from elsewhere."Planted";
  create function elsewhere.open(p_id integer) returns integer
    language plpgsql security definer as 'begin return nothing_like_it; end';
  create domain elsewhere.amount as numeric;
  alter domain elsewhere.amount add constraint planted check (value > 0) not valid;
  create policy planted on elsewhere."Planted" using (true);
  grant all on all tables in schema elsewhere to anon, authenticated;
  grant all on all sequences in schema elsewhere to anon, authenticated;
  insert into elsewhere.refers (id) values (null);
  create policy planted on storage.buckets for select to postgres using (false);
  create policy planted on auth.users for select to postgres using (false);`

test('objects of others break no invariant and no convention, whatever they are like', async () => {
  const checks = [
    ...invariants.map(({ id, says, sql }) => [`${id} ${says}`, sql] as const),
    ...conventions.map(({ name, query }) => [name, query] as const),
  ]
  const client = await database().connect()
  const found = async () => {
    const broken: Record<string, unknown[]> = {}
    for (const [name, sql] of checks) {
      const { rows } = await client.query(sql)
      if (rows.length) broken[name] = rows
    }
    return broken
  }
  try {
    await client.query('begin')
    await client.query(elsewhere)
    expect(await found()).toEqual({})
  } finally {
    await client.query('rollback')
    client.release()
  }
})
