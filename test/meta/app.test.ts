import { expect, test } from 'vitest'
import { database, guest, projectUrl, signUp } from '../support/client.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { edit } from '../admin/studio.ts'

const limits = { pictureBytes: 10_485_760, picturesPerListing: 40, messageLength: 4000 }

test('what an administrator sets is what guests and people are told', async () => {
  const { rows: [{ value: before }] } = await database().query(
    `select value from private.settings where name = 'app'`,
  )
  const said = {
    minVersion: { ios: '1.4.0', android: '2.0.11', web: null },
    storeUrl: { ios: 'https://apps.example/1', android: null },
    privacyUrl: 'https://market.example/privacy',
    support: { phone: '+96522000000', email: 'help@market.example', whatsapp: null },
  }
  const first = await guest.get('/meta/app')
  expect(first.body).toMatchObject({ ...before, terms: null, limits })
  try {
    await edit('private.settings', 'app', { value: said }, 'name')
    const headers = { 'if-none-match': first.headers.get('etag')! }
    const changed = await guest.get('/meta/app', { headers })
    expect([changed.status, changed.body]).toEqual([200, { ...first.body, ...said }])
    expect((await (await signUp()).get('/meta/app')).body).toEqual(changed.body)
  } finally {
    await edit('private.settings', 'app', { value: before }, 'name')
  }
})

test('the limits are those that are kept', async () => {
  const [sender, other] = [await signUp(), await signUp()]
  const { id } = (await sender.post('/conversations', { identityId: other.identityId })).body
  const send = (length: number) =>
    sender.post(`/conversations/${id}/messages`, {
      clientMessageId: crypto.randomUUID(),
      type: 'text',
      body: 'ا'.repeat(length),
    })
  expect((await send(limits.messageLength)).status).toBe(201)
  expect((await send(limits.messageLength + 1)).body.error.code).toBe('message_too_long')
})

testLocally('what is configured is said, and nothing else', async () => {
  const account = { project_id: 'x', client_email: 'x@x.example', private_key: 'key' }
  const nothing = {
    ENVIRONMENT: 'production',
    SMS_PROVIDER: undefined,
    MAIL_PROVIDER: undefined,
    PAYMENT_PROVIDER: undefined,
    SANDBOX_SECRET: undefined,
    GOOGLE_CLIENT_IDS: undefined,
    APPLE_CLIENT_IDS: undefined,
    FCM_SERVICE_ACCOUNT: undefined,
    SHARE_URL: undefined,
    PICTURE_URL: undefined,
  }
  const some = {
    ...nothing,
    ENVIRONMENT: 'test',
    APPLE_CLIENT_IDS: 'com.example.app',
    FCM_SERVICE_ACCOUNT: JSON.stringify(account),
    SHARE_URL: 'https://market.example/p/{refNo}',
    PICTURE_URL: 'https://img.example/width={w}/{path}',
  }
  for (
    const [settings, signIn, payments, push] of [
      [nothing, [false, false, false, false], false, false],
      [some, [true, true, false, true], false, true],
      [
        {
          ...some,
          PAYMENT_PROVIDER: 'sandbox',
          SANDBOX_SECRET: 'a'.repeat(9) + 'long enough secret',
        },
        [true, true, false, true],
        true,
        true,
      ],
    ] as const
  ) {
    const facade = await startFacade(settings)
    try {
      const { body } = await facade.get('/meta/app')
      const [phone, email, google, apple] = signIn
      const shareUrl = settings.SHARE_URL ?? null
      const picture = {
        url: settings.PICTURE_URL ?? null,
        files: `${projectUrl}/storage/v1/object/public/`,
      }
      expect(body)
        .toMatchObject({
          signIn: { phone, email, google, apple },
          payments,
          push,
          shareUrl,
          picture,
        })
    } finally {
      await facade.stop()
    }
  }
})
