import { newPerson, type Person } from './accounts.ts'
import { ask, type Json, must, step } from './guide.ts'
import { newAdmin } from './admins.ts'
import { listing } from './world.ts'

const reason = 'إعلان مخالف'

export async function admin() {
  let keeper: Person
  let seller: Person
  let sellerId = ''
  let offer = ''

  await step('Somebody reports a listing; only admins see it', async () => {
    keeper = await newAdmin()
    seller = await newPerson('بائع مخالف')
    sellerId = (await ask('GET', '/auth/me', undefined, { as: seller })).body.user.id
    const published = await ask('POST', '/properties', listing({ type: 'SALE', price: 1 }), {
      as: seller,
      status: 201,
    })
    offer = published.body.id
    const report = { targetType: 'property', targetId: offer, reason: 'fraud', note: 'سعر وهمي' }
    await ask('POST', '/reports', report, { status: 201 })
    await ask('POST', '/reports', report, { status: 409 })
    await ask('GET', '/admin/moderation', undefined, { status: 403 })
  })

  await step('An admin upholds it: the listing is gone, its owner is notified why', async () => {
    let found: Json
    for (let cursor = ''; !found;) {
      const path = `/admin/moderation?kind=report&limit=50${cursor}`
      const { body } = await ask('GET', path, undefined, { as: keeper })
      found = body.items.find((item: Json) => item.report.targetId === offer)
      must(found || body.nextCursor, 'the report was to wait')
      cursor = `&cursor=${body.nextCursor}`
    }
    const decision = { decision: 'uphold', reason }
    await ask('POST', `/admin/moderation/${found.id}/decide`, decision, { as: keeper })
    await ask('GET', `/properties/${offer}`, undefined, { status: 404 })
    const { body } = await ask('GET', `/properties/${offer}`, undefined, { as: seller })
    must(body.status === 'suspended' && body.statusReason === reason, 'the owner was to know why')
  })

  await step('And locks the account: signed out at once, with the reason', async () => {
    const path = `/admin/users/${sellerId}/status`
    await ask('PATCH', path, { status: 'suspended', reason }, { as: keeper })
    const { body } = await ask('GET', '/auth/me', undefined, { as: seller, status: 403 })
    must(body.error.message.includes(reason), 'the answer should give the reason')
    await ask('PATCH', path, { status: 'active', reason: 'تعهد بالالتزام' }, { as: keeper })
  })

  await step('Each act is in the audit trail, with who and why', async () => {
    const { body } = await ask('GET', `/admin/audit?targetId=${sellerId}`, undefined, {
      as: keeper,
    })
    must(body.items.length === 2 && body.items[1].reason === reason, 'two actions were to be there')
    await ask('GET', '/admin/stats', undefined, { as: keeper })
  })

  await step('One takes everything along, as one JSON', async () => {
    const { body } = await ask('GET', '/auth/me/export')
    must(body.identities.length > 0, 'the identities were to be in it')
  })
}
