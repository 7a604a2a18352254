import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { endLicence } from '../../organisations/directory.ts'
import { change } from '../../accounts/contact-requests.ts'
import { newPlan } from '../../billing/purchases.ts'
import { toggleFavorite } from '../../favorites/reads.ts'
import { demote, makeAdmin, signUpAdmin } from '../../support/admins.ts'
import { ChatSocket } from '../../support/chat-socket.ts'
import { database, guest, newPhone, type Person, signIn, signUp } from '../../support/client.ts'
import { openConversation, postMessage } from '../../support/conversations.ts'
import { testLocally } from '../../support/facade.ts'
import {
  givePhone,
  insertListing,
  insertOrganisation,
  insertWaitingCompany,
  proveEmail,
} from '../../support/fixtures.ts'
import { drain } from '../../support/jobs.ts'
import { publishListing, uniquePrice } from '../../support/listings.ts'
import { createCharge, submitSandboxPage, topUp, topUpInvoice } from '../../support/money.ts'
import {
  notificationsOf,
  registerDevice,
  waitForNotification,
} from '../../support/notifications.ts'
import { givePlan } from '../../support/plans.ts'
import { claims, token } from '../../support/social-issuer.ts'
import { tellOfTerms } from '../../support/terms.ts'
import { waitUntil } from '../../support/wait.ts'
import { fcm, sara, sendPushes } from './process.ts'

type Act = {
  kind: string
  what: string
  does: () => Promise<unknown>
  /** How many pushes the act causes; 'some' if other tests may cause more. */
  pushes?: number | 'some'
}

const done = ({ status, body }: { status: number; body: unknown }) =>
  expect(status, JSON.stringify(body)).toBeLessThan(300)

async function contact(): Promise<{ other: Person; id: string }> {
  const other = await signUp('سالم العنزي')
  await proveEmail(other)
  const { id } = await openConversation(other, { identityId: sara.identityId, message: 'مرحبا' })
  done(await postMessage(sara, id, 'أهلاً'))
  return { other, id }
}

async function decideOn(
  id: string,
  ...decisions: ('approve' | 'reject' | 'suspend' | 'restore')[]
) {
  const admin = await signUpAdmin()
  for (const decision of decisions) {
    const reason = decision === 'approve' ? undefined : 'غير واضح'
    done(await admin.post(`/admin/moderation/${id}/decide`, { decision, reason }))
  }
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

const endHerPlan = () =>
  database().query(
    `update public.subscriptions set status = 'expired', ended_at = now()
     where identity_id = $1 and status = 'active'`,
    [sara.identityId],
  )

async function givesHer(planId: string, days: number) {
  await endHerPlan()
  const { rows: [{ code }] } = await database().query(
    'select code from public.plans where id = $1',
    [planId],
  )
  await givePlan(sara.identityId, code, days)
}

async function hideListings() {
  for (let i = 0; i < 2; i++) await insertListing(sara.identityId)
  await givesHer(await newPlan({ listings: 1 }), 30)
  await database().query('select private.pause_over_quota($1)', [sara.identityId])
  await endHerPlan()
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
    kind: 'message_new',
    what: 'a message that comes by the gateway',
    does: async () => {
      const other = await signUp()
      const { id } = await openConversation(other, { identityId: sara.identityId })
      const socket = await ChatSocket.connect(other)
      await socket.sendMessage(id, 'مرحبا')
      socket.close()
    },
  },
  {
    kind: 'lead_new',
    what: 'a request for her number',
    does: async () => {
      await givePhone(sara, newPhone())
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
    kind: 'listing_suspended',
    what: 'the suspension of her listing',
    does: async () =>
      await decideOn((await publishListing(sara, { price: uniquePrice() })).id, 'suspend'),
  },
  {
    kind: 'listing_restored',
    what: 'the end of the suspension of her listing',
    does: async () =>
      await decideOn(
        (await publishListing(sara, { price: uniquePrice() })).id,
        'suspend',
        'restore',
      ),
  },
  {
    kind: 'identity_suspended',
    what: 'the suspension of her company',
    does: async () => await decideOn(await insertOrganisation(sara.id), 'suspend'),
  },
  {
    kind: 'identity_restored',
    what: 'the end of the suspension of her company',
    does: async () => await decideOn(await insertOrganisation(sara.id), 'suspend', 'restore'),
  },
  {
    kind: 'licence_expiring',
    what: "the end of her company's licence today",
    does: async () => {
      await endLicence(await insertOrganisation(sara.id), 0)
      await drain('warn_expiring_licences')
    },
  },
  {
    kind: 'licence_expired',
    what: "the end of her company's licence yesterday",
    does: async () => {
      await endLicence(await insertOrganisation(sara.id), -1)
      await drain('expire_licences')
    },
  },
  ...['requested', 'cancelled'].map((what) => ({
    kind: `deletion_${what}`,
    what: `a deletion that is ${what}`,
    does: async () => {
      const { identifier, password } = sara
      done(await sara.post('/auth/me/delete', { password }))
      Object.assign(sara, await signIn(identifier, password))
    },
    pushes: 0, // the request ended the session of the device
  })),
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
    kind: 'invoice_failed',
    what: 'a payment that fails',
    does: async () => {
      const { ref } = await createCharge(sara, await topUpInvoice(sara, 5))
      await submitSandboxPage(ref, 'fail', 'once')
    },
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
    kind: 'plan_expiring',
    what: 'the end of a plan in three days',
    does: async () => {
      await givesHer(await newPlan(), 2)
      await drain('remind_of_plans')
    },
  },
  { kind: 'listings_hidden', what: 'a plan without room for her listings', does: hideListings },
  {
    kind: 'listings_back',
    what: 'a plan with room for them',
    does: async () => {
      await hideListings()
      await database().query('select private.bring_back_listings($1)', [sara.identityId])
    },
  },
  {
    kind: 'plan_terms_changed',
    what: 'the end of a plan that is no longer offered',
    does: async () => {
      const plan = await newPlan()
      await database().query('update public.plans set on_sale = false where id = $1', [plan])
      await givesHer(plan, 20)
      await drain('remind_of_plans')
    },
  },
  {
    kind: 'listing_expiring',
    what: 'the end of her listing within seven days',
    does: async () => {
      const expiresAt = new Date(Date.now() + 2 * 86_400_000)
      await insertListing(sara.identityId, { expires_at: expiresAt })
      await drain('warn_expiring_listings')
    },
  },
  {
    kind: 'listing_expired',
    what: 'the end of her listing',
    does: async () => {
      await insertListing(sara.identityId, { expires_at: new Date(Date.now() - 1000) })
      await drain('expire_listings')
    },
  },
  {
    kind: 'terms_new',
    what: 'new terms',
    does: async () => {
      await tellOfTerms(sara)
      await drain('notify_of_terms')
    },
  },
  {
    kind: 'system',
    what: 'an alarm, since she is an admin',
    does: async () => {
      await makeAdmin(sara)
      const payer = await signUp()
      const invoice = await topUpInvoice(payer)
      const first = await createCharge(payer, invoice)
      await submitSandboxPage(first.ref, 'fail', 'once')
      const second = await createCharge(payer, invoice)
      for (const { ref } of [first, second]) await submitSandboxPage(ref, 'pay', 'once')
      await demote(sara)
    },
    pushes: 'some',
  },
  {
    kind: 'admin_event',
    what: 'a new administrator, since she is one',
    does: async () => {
      await makeAdmin(sara)
      const { id } = await signUp()
      await database().query('insert into public.admins (account_id) values ($1)', [id])
      await waitForNotification(sara, 'admin_event')
      await demote(sara)
    },
    pushes: 'some',
  },
  {
    kind: 'security_login',
    what: 'a sign-in',
    does: async () => {
      // An account gets no notifications of sign-ins in its first quarter of an hour.
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
    kind: 'security_contact',
    what: 'a new phone',
    does: async () => {
      await proveEmail(sara)
      done(await change(sara, 'phone', newPhone()))
    },
  },
  {
    kind: 'security_provider',
    what: 'a provider that signs her in from now on',
    does: async () => {
      // Verifies the email; otherwise the sign-in would take over the account and delete its devices.
      await proveEmail(sara)
      const { post } = await signUp()
      done(
        await post('/auth/google', {
          idToken: await token('google', claims('google', { email: sara.identifier })),
        }),
      )
    },
  },
]

test('every kind that there is can be caused', async () => {
  const { components } = (await guest.get('/openapi.json')).body
  const { kind } = components.schemas.Notification.properties
  expect(new Set(acts.map((act) => act.kind))).toEqual(new Set(kind.enum))
})

testLocally.each(acts)('$what is told in the list and by push', async (act) => {
  const { kind, does, pushes = 1 } = act
  const { pushToken } = await registerDevice(sara)
  await does()
  const { titleAr, bodyAr, titleEn, bodyEn, data } = await waitForNotification(sara, kind)
  for (const text of [titleAr, bodyAr, titleEn, bodyEn]) expect(text).toMatch(/^[^{}]+$/)
  if (pushes === 0) return
  const sent = () => fcm.sentTo(pushToken).filter((push) => push.data.kind === kind)
  await waitUntil('it is sent', async () => {
    await sendPushes()
    return sent().length >= (pushes === 'some' ? 1 : pushes)
  })
  if (pushes !== 'some') expect(sent()).toHaveLength(pushes)
  if (pushes !== 'some') expect(sent().at(-1)).toMatchObject({ title: titleAr, body: bodyAr })
  expect(sent().at(-1)).toMatchObject({
    data: { kind, route: data.route },
  })
  expect((await notificationsOf(sara, kind)).length).toBeGreaterThan(0)
})
