import { randomInt } from 'node:crypto'
import pg from 'pg'
import { databaseAt } from '../../local/schema/connection.ts'
import { ask, databaseUrl, must, show, step } from './guide.ts'
import { ids, listing, offered, publish, same } from './world.ts'

/** Verifies a company in the database, as an admin does in Studio. */
async function verify(identityId: string) {
  must(databaseUrl, 'DATABASE_URL is needed here, to verify the company as an admin does')
  const client = new pg.Client(databaseAt(databaseUrl))
  await client.connect()
  await client.query('update public.identities set status = $2 where id = $1', [
    identityId,
    'active',
  ])
  await client.query('update public.organisations set verified = true where identity_id = $1', [
    identityId,
  ])
  await client.end()
  show('Studio: the company is verified')
}

/** Makes a listing a week old; before that, no lower price counts as a deal. */
async function makeOlder(id: string) {
  must(databaseUrl, 'DATABASE_URL is needed here, to let a week go by')
  const client = new pg.Client(databaseAt(databaseUrl))
  await client.connect()
  await client.query(`set edits.by = 'the tour'`)
  await client.query(
    `update public.price_history set changed_at = changed_at - interval '7 days'
     where property_id = $1`,
    [id],
  )
  await client.end()
  show('A week goes by')
}

export async function properties() {
  await step('Publishes one listing of each type', async () => {
    const sale = await publish({ type: 'SALE', price: 285_000 })
    must(sale.priceLabel === '285,000 د.ك', 'the price was to read 285,000 د.ك')
    const rent = await publish({ type: 'RENT', price: 950, kind: 'floor' })
    must(rent.priceLabel === '950 د.ك / شهرياً', 'the price was to be a month’s')
    const exchange = await publish({
      type: 'EXCHANGE',
      wantedAreaIds: ['bayan'],
      requestYear: 2009,
    })
    must(exchange.priceLabel === 'السعر غير معلن', 'there was to be no price')
    Object.assign(offered, { sale: sale.id, rent: rent.id, exchange: exchange.id })
    await ask('POST', '/properties', listing({ type: 'SALE' }), { status: 422 })
  })

  await step('Is reached by chat alone, since the account has no number', async () => {
    const path = `/properties/${offered.sale}`
    const { body } = await ask('GET', path)
    must(same(body.contactMissing, ['call', 'whatsapp']), 'both ways were to lack a number')
    const seen = await ask('GET', path, undefined, { as: {} })
    must(!seen.body.allowCall && seen.body.allowChat, 'strangers were to see chat alone')
    await ask('PATCH', path, { allowChat: false }, { status: 422 })
  })

  await step('Lowers a price and sets an auction', async () => {
    const deal = await publish({ type: 'SALE', price: 200_000, kind: 'villa' })
    await makeOlder(deal.id)
    const { body } = await ask('PATCH', `/properties/${deal.id}`, { price: 180_000 })
    must(body.deal?.dropPct === 10, 'it was to be a deal of 10 percent')
    const history = await ask('GET', `/properties/${deal.id}/price-history`)
    must(history.body.items.length === 2, 'there were to be two prices')
    const auction = await publish({ type: 'SALE', price: 120_000, kind: 'residential_plot' })
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()
    await ask('POST', `/properties/${auction.id}/auction`, {
      startsAt: hours(1),
      endsAt: hours(49),
      startPrice: 100_000,
      minIncrement: 500,
    }, { status: 201 })
    Object.assign(offered, { deal: deal.id, auction: auction.id })
  })

  await step('Adds a company, switches to it and publishes as it', async () => {
    const { body } = await ask('POST', '/auth/identities', {
      type: 'company',
      nameAr: 'شركة الجولة العقارية',
      licenceNo: `TOUR/${randomInt(1_000_000_000)}`,
      licenceExpiresOn: '2040-01-01',
    }, { status: 201 })
    must(body.status === 'pending_verification', 'it was to wait for verification')
    await ask('POST', '/auth/identity/switch', { identityId: body.id }, { status: 403 })
    await verify(body.id)
    const switched = await ask('POST', '/auth/identity/switch', { identityId: body.id })
    must(switched.body.activeIdentity.id === body.id, 'the company was to act')
    const property = await publish({ type: 'SALE', price: 310_000 })
    must(
      property.owner.identityId === body.id && property.owner.verified,
      'the company was to offer it',
    )
    must(
      same(ids((await ask('GET', '/properties/mine')).body), [property.id]),
      'only its own were to come',
    )
    offered.company = property.id
    await ask('POST', '/auth/identity/switch', { identityId: switched.body.identities[0].id })
  })
}
