/** From what people do, over HTTP, to what the other person finds in the list and gets as a push. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { toggleFavorite } from '../../favorites/reads.ts'
import { signUpAdmin } from '../../support/admins.ts'
import { database, newPhone, type Person, signIn, signUp } from '../../support/client.ts'
import { openConversation, postMessage } from '../../support/conversations.ts'
import { testLocally } from '../../support/facade.ts'
import { insertListing, insertWaitingCompany } from '../../support/fixtures.ts'
import { publishListing } from '../../support/listings.ts'
import { topUp } from '../../support/money.ts'
import {
  notificationsOf,
  registerDevice,
  waitForNotification,
} from '../../support/notifications.ts'
import { claims, token } from '../../support/social-issuer.ts'
import { fcm, sara, sendPushes } from './process.ts'

/** What somebody does of which Sara is told, and with how many pushes. */
type Act = { kind: string; what: string; does: () => Promise<unknown>; pushes?: number }

const done = ({ status, body }: { status: number; body: unknown }) =>
  expect(status, JSON.stringify(body)).toBeLessThan(300)

/** A conversation that somebody begins with Sara; she has written, too. */
async function contact(): Promise<{ other: Person; id: string }> {
  const other = await signUp('سالم العنزي')
  const { id } = await openConversation(other, { identityId: sara.identityId, message: 'مرحبا' })
  done(await postMessage(sara, id, 'أهلاً'))
  return { other, id }
}

async function decideOn(id: string, decision: 'approve' | 'reject') {
  const admin = await signUpAdmin()
  const reason = decision === 'reject' ? 'غير واضح' : undefined
  done(await admin.post(`/admin/moderation/${id}/decide`, { decision, reason }))
}

const waitingListing = () =>
  insertListing(sara.identityId, {
    status: 'pending_review',
    published_at: null,
    expires_at: null,
  })

async function savedByHer() {
  const seller = await signUp()
  const { id } = await publishListing(seller, { price: 200_000 })
  await toggleFavorite(sara, id)
  return { seller, id }
}

const acts: Act[] = [
  {
    kind: 'message_new',
    what: 'the first message of a conversation',
    does: async () => {
      const other = await signUp()
      await openConversation(other, { identityId: sara.identityId, message: 'مرحبا' })
    },
  },
  {
    kind: 'message_new',
    what: 'a second message while the first is unread',
    does: async () => {
      const other = await signUp()
      const { id } = await openConversation(other, { identityId: sara.identityId, message: '1' })
      await sendPushes()
      done(await postMessage(other, id, '2'))
    },
    pushes: 2,
  },
  {
    kind: 'message_new',
    what: 'a message to somebody with settings of her own',
    does: async () => {
      done(await sara.patch('/settings', { privacy: { readReceipts: false } }))
      const other = await signUp()
      const { id } = await openConversation(other, { identityId: sara.identityId, message: '1' })
      await sendPushes()
      done(await postMessage(other, id, '2'))
    },
    pushes: 2,
  },
  {
    kind: 'lead_new',
    what: 'a request for her number',
    does: async () => {
      const phone = `965${newPhone().slice(-8)}`
      await database().query(
        'update auth.users set phone = $2, phone_confirmed_at = now() where id = $1',
        [sara.id, phone],
      )
      const { id } = await publishListing(sara)
      done(await (await signUp()).post(`/properties/${id}/contact`, { kind: 'call' }))
    },
  },
  {
    kind: 'favorite_price_drop',
    what: 'a lower price of what she saved',
    does: async () => {
      const { seller, id } = await savedByHer()
      done(await seller.patch(`/properties/${id}`, { price: 150_000 }))
    },
  },
  {
    kind: 'favorite_unavailable',
    what: 'the end of what she saved',
    does: async () => {
      const { seller, id } = await savedByHer()
      done(await seller.post(`/properties/${id}/mark-sold`))
    },
  },
  {
    kind: 'listing_approved',
    what: 'an approval of her listing',
    does: async () => await decideOn(await waitingListing(), 'approve'),
  },
  {
    kind: 'listing_rejected',
    what: 'a refusal of her listing',
    does: async () => await decideOn(await waitingListing(), 'reject'),
  },
  {
    kind: 'identity_verified',
    what: 'the verification of her company',
    does: async () => await decideOn(await insertWaitingCompany(sara.id), 'approve'),
  },
  {
    kind: 'identity_rejected',
    what: 'a refusal of her company',
    does: async () => await decideOn(await insertWaitingCompany(sara.id), 'reject'),
  },
  {
    kind: 'review_new',
    what: 'a review',
    does: async () => {
      const { other } = await contact()
      done(await other.post('/reviews', { identityId: sara.identityId, rating: 4 }))
    },
  },
  {
    kind: 'invoice_paid',
    what: 'a payment',
    does: () => topUp(sara, 5),
  },
  {
    kind: 'refund',
    what: 'a refund',
    does: async () => {
      const { id } = await topUp(sara, 5)
      const admin = await signUpAdmin()
      done(await admin.post(`/admin/invoices/${id}/refund`, { to: 'source', reason: 'طلب العميل' }))
    },
  },
  {
    kind: 'security_login',
    what: 'a sign-in',
    does: async () => {
      // The first quarter of an hour belongs to whoever has just registered.
      await database().query(
        `update private.notification_events set notified_at = notified_at - interval '16 minutes'
         where account_id = $1 and kind = 'security_login'`,
        [sara.id],
      )
      await signIn(sara.identifier, sara.password)
    },
  },
  {
    kind: 'security_password',
    what: 'a new password',
    does: async () =>
      done(
        await sara.post('/auth/password/change', {
          currentPassword: sara.password,
          newPassword: randomUUID(),
        }),
      ),
  },
  {
    kind: 'security_provider',
    what: 'a provider that signs her in from now on',
    does: async () => {
      // Proven, so that the sign-in is no takeover, which ends her devices.
      await database().query('update public.accounts set email_proven = true where id = $1', [
        sara.id,
      ])
      const { post } = await signUp()
      done(
        await post('/auth/google', {
          idToken: await token('google', claims('google', { email: sara.identifier })),
        }),
      )
    },
  },
]

testLocally.each(acts)('$what is told in the list and by push', async (act) => {
  const { kind, does, pushes = 1 } = act
  const { pushToken } = await registerDevice(sara)
  await does()
  const { titleAr, bodyAr, data } = await waitForNotification(sara, kind)
  const sent = () => fcm.sentTo(pushToken).filter((push) => push.data.kind === kind)
  await expect.poll(async () => {
    await sendPushes()
    return sent().length
  }, { timeout: 5000 }).toBe(pushes)
  expect(sent().at(-1)).toMatchObject({
    title: titleAr,
    body: bodyAr,
    data: { kind, route: data.route },
  })
  expect((await notificationsOf(sara, kind)).length).toBeGreaterThan(0)
})
