import { api, Button, say, withProof } from '../frame/index.ts'
import { t } from './words.ts'

const lists = { users: 'users', moderation: 'moderation', audit: 'audit', 'payment-events': 'payments/events' }

/** Saves a list as CSV with its current filters. For a list of people, the administrator re-authenticates. */
export function Csv({ name, query }: { name: keyof typeof lists; query: object }) {
  const path = `/admin/${lists[name]}` as '/admin/users'
  const save = async () => {
    const call = { query, headers: { accept: 'text/csv' } }
    const file: unknown = await withProof((options) => api.get(path, { ...call, ...options }))
    const href = URL.createObjectURL(file as Blob)
    const day = new Date().toLocaleDateString('sv', { timeZone: 'Asia/Kuwait' })
    Object.assign(document.createElement('a'), { href, download: `${name}-${day}.csv` }).click()
    setTimeout(() => URL.revokeObjectURL(href), 60_000)
    say(t('csvSaved'))
  }
  return <Button onClick={save} title={t('csvMore')}>{t('csv')}</Button>
}
