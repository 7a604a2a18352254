import { randomUUID } from 'node:crypto'
import { newPerson } from './accounts.ts'
import { ask, type Json, must, step } from './guide.ts'
import { offered } from './world.ts'

export async function notifications() {
  await step('Hears of a lead, on the phone and in the list; the badge is right', async () => {
    await ask('PUT', '/devices', {
      deviceId: randomUUID(),
      platform: 'ios',
      pushToken: `tour-${randomUUID()}`,
    })
    await ask('POST', '/notifications/read-all')
    const asking = await newPerson('منى الرشيدي')
    const opened = await ask(
      'POST',
      '/conversations',
      { propertyId: offered.sale, message: 'هل ما زال متوفراً؟' },
      { as: asking, status: 201 },
    )
    const { body } = await ask('GET', '/notifications?unread=true')
    const [lead] = body.items.filter(({ kind }: Json) => kind === 'message_new')
    must(lead?.data.entityId === opened.body.id, 'the message was to name its conversation')
    must(lead.titleAr.endsWith(opened.body.property.titleAr), 'it was to name the listing')
    // A notification about a recent sign-in may arrive in between.
    const { body: before } = await ask('GET', '/notifications/unread-count')
    must(before.unread >= body.items.length, 'the badge was to count what is unread')
    await ask('POST', `/notifications/${lead.id}/read`)
    const { body: left } = await ask('GET', '/notifications?unread=true')
    must(!left.items.some(({ id }: Json) => id === lead.id), 'the lead was to be read')
  })

  await step('Chooses what to hear of, and when', async () => {
    const { body } = await ask('PATCH', '/settings', {
      notifications: { leads: { push: false } },
      quietHours: { from: '22:30', to: '07:00' },
    })
    must(body.notifications.leads.push === false, 'pushes of leads were to be off')
    must(body.notifications.messages.push === true, 'all else was to stay')
    must(body.quietHours.from === '22:30', 'the quiet hours were to be kept')
    await ask('PATCH', '/settings', { theme: 'dark' }, { status: 422 })
  })
}
