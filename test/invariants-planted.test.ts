import { beforeAll, expect, test } from 'vitest'
import { database } from './client.ts'
import { talk, write } from './conversations.ts'
import { invariants } from './invariants.ts'
import { offer } from './listings.ts'
import { topUpInvoice } from './money.ts'
import { jpeg } from './pictures.ts'
import { uploadPictures } from './uploads.ts'

// What the plants break.
beforeAll(async () => {
  const { a, b, id } = await talk()
  await write(a, id)
  const { id: propertyId } = await offer(b)
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
