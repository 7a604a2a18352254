import type { Input } from 'kuwait-property-client'
import { api, Button, say, withProof } from '../frame/index.ts'
import { t } from './words.ts'

const lists = {
  users: '/admin/users', moderation: '/admin/moderation',
  audit: '/admin/audit', 'payment-events': '/admin/payments/events',
} as const
type Lists = typeof lists
type Filters<Name extends keyof Lists> = NonNullable<NonNullable<Input<'get', Lists[Name]>[0]>['query']>

/** Saves a list as it is filtered now; where people are in it the service asks for a proof. */
export function Csv<Name extends keyof Lists>({ name, query }: { name: Name; query: Filters<Name> }) {
  const save = async () => {
    const file: unknown = await withProof((options) =>
      api.get(lists[name] as '/admin/users', { query: query as object, headers: { accept: 'text/csv' }, ...options })
    )
    const href = URL.createObjectURL(file as Blob)
    const day = new Date().toLocaleDateString('sv', { timeZone: 'Asia/Kuwait' })
    Object.assign(document.createElement('a'), { href, download: `${name}-${day}.csv` }).click()
    setTimeout(() => URL.revokeObjectURL(href), 60_000)
    say(t('csvSaved'))
  }
  return <Button onClick={save} title={t('csvMore')}>{t('csv')}</Button>
}
