/**
 * Compares complete webhooks (signature check, look-up of the charge and transaction) with the transaction
 * alone, in the same run. Both settle only new payments, each of them once.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Stack } from '../test/support/stack.ts'
import { startFunctions } from './start-functions.ts'
import { loadListings } from './generate-listings.ts'
import { loadCalls, loadHttp, type Measured, median } from './http-load.ts'

export const sandboxSecret = 'bench of webhooks'

const connections = 32
const seconds = 2
const rounds = 3
const perRound = 5000

type WebhookFigures = { bare: Measured; facade: Measured; percent: number }

type Due = { id: string; ref: string }

/** Creates top-up invoices for many identities. All are charged and paid at the sandbox. */
async function payments(client: pg.Client, count: number): Promise<Due[]> {
  await client.query(
    `create temporary table due on commit preserve rows as
     select private.issue_invoice(owners.id, 'topup', now() + interval '1 day', 'شحن', 'Top-up', 1.5)
       as invoice_id
     from generate_series(1, $1::integer) as number
     join (select id, row_number() over () - 1 as ordinal, count(*) over () as many
       from public.identities) as owners on owners.ordinal = number % owners.many`,
    [count],
  )
  const { rows } = await client.query<Due>(
    `with begun as (
       insert into public.payments
         (invoice_id, provider, mode, amount, return_url, state, provider_ref, redirect_url)
       select invoice_id, 'sandbox', 'test', 1.5, '', 'open', 'sbx_' || invoice_id, '' from due
       returning id, provider_ref
     )
     insert into private.sandbox_charges (id, reference, amount, currency, title, return_url, state)
     select provider_ref, id, 1.5, 'KWD', '', '', 'paid' from begun
     returning reference as id, id as ref`,
  )
  await client.query('drop table due')
  await client.query('analyze public.invoices, public.payments, private.sandbox_charges')
  return rows
}

function request(url: string, { ref }: Due): Buffer {
  const body = JSON.stringify({ id: `evt_${randomUUID()}`, type: 'charge', chargeId: ref })
  const time = Math.floor(Date.now() / 1000)
  const sign = createHmac('sha256', sandboxSecret).update(`${time}.${body}`).digest('hex')
  return Buffer.from(
    `POST /api/payments/webhook/sandbox HTTP/1.1\r\nhost: ${new URL(url).host}\r\n` +
      `content-type: application/json\r\nsandbox-signature: t=${time},v1=${sign}\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  )
}

/** Runs the transaction with which the facade ends a webhook. */
function transaction(pool: pg.Pool, { id, ref }: Due): Promise<unknown> {
  const answer = JSON.stringify({
    ref,
    reference: id,
    status: 'paid',
    amount: '1.500',
    currency: 'KWD',
    mode: 'test',
    paymentId: `pay_${ref}`,
    details: { method: 'sandbox' },
  })
  const hash = createHash('sha256').update(answer).digest('hex')
  return pool.query(
    `select to_json(result)::text from private.receive_payment(
       'sandbox', 'evt_${randomUUID()}', 'payment', '${hash}', null, '${answer}') as result`,
  )
}

export async function benchWebhooks(
  stack: Stack,
  say: (line: string) => void,
): Promise<WebhookFigures> {
  const options = '-c edits.by=bench'
  const client = new pg.Client({ connectionString: stack.databaseUrl, options })
  await client.connect()
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, options, max: 6 })
  const functions = await startFunctions(stack, { SANDBOX_SECRET: sandboxSecret })
  const bare: Measured[] = []
  const facade: Measured[] = []
  try {
    await loadListings(stack.databaseUrl, 2000) // for their owners, who pay the invoices
    say(`webhooks against the bare transaction, ${rounds} rounds of each`)
    for (let round = 0; round < rounds; round++) {
      const due = await payments(client, 2 * perRound)
      const [forBare, forFacade] = [due.slice(0, perRound), due.slice(perRound)]
      let turn = 0
      const next = () => {
        const one = forBare[turn++]
        if (!one) throw new Error('too few payments for this machine: raise perRound')
        return transaction(pool, one)
      }
      bare.push(await loadCalls(next, { connections, seconds }))
      const requests = forFacade.map((one) => request(functions.url, one))
      const measured = await loadHttp(functions.url, requests, { connections, seconds })
      const { rows: [{ left }] } = await client.query(
        `select count(*)::integer as left from public.payments
         where state = 'open' and id = any ($1)`,
        [forFacade.map(({ id }) => id)],
      )
      if (!left) throw new Error('too few payments for this machine: raise perRound')
      facade.push(measured)
    }
  } finally {
    await functions.stop()
    await pool.end()
    await client.end()
  }
  const [bareMedian, facadeMedian] = [median(bare), median(facade)]
  return {
    bare: bareMedian,
    facade: facadeMedian,
    percent: Math.round(100 * facadeMedian.perSecond / bareMedian.perSecond),
  }
}

export const webhooksTable = ({ bare, facade, percent }: WebhookFigures) => [
  ['', 'bare/s', 'facade/s', 'facade of bare', 'p50', 'p99', 'failed'],
  [
    'webhook',
    String(bare.perSecond),
    String(facade.perSecond),
    `${percent} %`,
    `${facade.p50.toFixed(1)} ms`,
    `${facade.p99.toFixed(1)} ms`,
    String(facade.failed),
  ],
]
