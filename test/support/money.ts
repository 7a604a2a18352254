import { createHmac, randomUUID } from 'node:crypto'
import { checkReply, database, type Person, projectUrl, type Reply } from './client.ts'
import { defaultSettings, hasStack } from './facade.ts'

// deno-lint-ignore no-explicit-any
export type Invoice = any

export const returnUrl = 'https://app.example/payments/back'

export async function topUpInvoice(person: Person, amount: number | string = 10): Promise<Invoice> {
  const { status, body } = await person.post('/wallet/topup', `{"amount":${amount}}`)
  if (status !== 201) throw new Error(`topup: ${JSON.stringify(body)}`)
  return body
}

type Charge = { paymentId: string; redirectUrl: string; ref: string }

export async function createCharge(person: Person, invoice: Invoice): Promise<Charge> {
  const { status, body } = await person.post('/payments/charge', {
    invoiceId: invoice.id,
    returnUrl,
  })
  if (status !== 200) throw new Error(`charge: ${JSON.stringify(body)}`)
  return { ...body, ref: refOf(body.redirectUrl) }
}

export const refOf = (redirectUrl: string) => redirectUrl.split('/').at(-1)!

export async function submitSandboxPage(
  ref: string,
  outcome: 'pay' | 'fail' | 'leave' = 'pay',
  callback: 'once' | 'twice' | 'late' | 'never' = 'never',
): Promise<string | null> {
  const response = await fetch(`${projectUrl}/functions/v1/api/sandbox/${ref}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ outcome, callback }),
  })
  await response.text()
  if (response.status !== 303) throw new Error(`the sandbox answered ${response.status}`)
  return response.headers.get('location')
}

const sandboxSecret = () => defaultSettings().SANDBOX_SECRET!

export const sandboxCallback = (ref: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({ id: `evt_${randomUUID()}`, type: 'charge', chargeId: ref, ...more })

export function sandboxSignature(raw: string, secret = sandboxSecret(), at = Date.now()): string {
  const time = Math.floor(at / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${raw}`).digest('hex')}`
}

type CallbackOptions = { base?: string; signature?: string | null; path?: string; method?: string }

/** Sends a callback, correctly signed unless a signature is given (null: no signature). */
export async function sendCallback(raw: string, options: CallbackOptions = {}): Promise<Reply> {
  const { base = `${projectUrl}/functions/v1/api`, signature = sandboxSignature(raw) } = options
  const path = options.path ?? '/payments/webhook/sandbox'
  const response = await fetch(base + path, {
    method: options.method ?? 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signature !== null && { 'sandbox-signature': signature }),
    },
    body: raw,
  })
  const text = await response.text()
  const reply = {
    status: response.status,
    headers: response.headers,
    body: text && response.headers.get('content-type')?.startsWith('application/json')
      ? JSON.parse(text)
      : text,
  }
  if (response.headers.has('x-request-id')) await checkReply('POST', path, reply, raw)
  return reply
}

export async function topUp(person: Person, amount: number | string = 10): Promise<Invoice> {
  const invoice = await topUpInvoice(person, amount)
  const { ref } = await createCharge(person, invoice)
  await submitSandboxPage(ref, 'pay', 'once')
  const { body } = await person.get(`/payments/status/${invoice.id}`)
  if (body.state !== 'paid') throw new Error(`the top-up is ${body.state}`)
  return body
}

export async function findPlan(person: Person, code: string) {
  const { body } = await person.get('/plans')
  // deno-lint-ignore no-explicit-any
  return body.items.find((plan: any) => plan.code === code)
}

/** Books a correction, which moves money without a payment; a negative amount takes money away. */
export const giveMoney = async (
  identityId: string,
  amount: number | string,
  decision: string = randomUUID(),
) =>
  await database().query(
    `select private.move_money(
       case when $2::numeric < 0 then own else other end,
       case when $2::numeric < 0 then other else own end,
       abs($2::numeric), 'adjustment', 'adjustment', $3)
     from private.wallet_of($1) as own, private.system_account('adjustments') as other`,
    [identityId, amount, decision],
  )

export const walletOf = async (person: Person) => (await person.get('/wallet')).body

export async function moneyFingerprint(identityId: string): Promise<string> {
  const { rows } = await database().query(
    `select md5(concat(
       (select string_agg(invoices::text, ',' order by id) from public.invoices
        where identity_id = $1),
       (select string_agg(concat(payments.id, payments.state, payments.captured_at), ',' order by id)
        from public.payments
        where invoice_id in (select id from public.invoices where identity_id = $1)),
       (select string_agg(wallet_entries::text, ',' order by wallet_entries.id)
        from public.wallet_entries join public.wallets on wallets.id = wallet_id
        where identity_id = $1),
       (select string_agg(wallets::text, ',' order by id) from public.wallets
        where identity_id = $1),
       (select string_agg(subscriptions::text, ',' order by id) from public.subscriptions
        where identity_id = $1))) as hash`,
    [identityId],
  )
  return rows[0].hash
}

export const alarmsAbout = async (subject: string): Promise<string[]> =>
  (await database().query('select kind from private.alarms where subject_id = $1', [subject])).rows
    .map(({ kind }) => kind)

/** Only the embedded stack has the sandbox and reveals its secret. */
export const hasSandbox = hasStack
