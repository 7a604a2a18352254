import { randomUUID } from 'node:crypto'
import { database, type Person } from './client.ts'

export const actAs = (person: Person, identityId: unknown) =>
  person.post('/auth/identity/switch', { identityId })

export async function actingOf(accountId: string): Promise<string | null> {
  const { rows } = await database().query(
    'select active_identity_id as id from public.accounts where id = $1',
    [accountId],
  )
  return rows[0].id
}

export const setStatus = (identityId: string, status: string) =>
  database().query('update public.identities set status = $2 where id = $1', [identityId, status])

export const company = () => ({
  type: 'company',
  nameAr: 'شركة الديرة العقارية',
  licenceNo: `L-${randomUUID().slice(0, 8).toUpperCase()}`,
  licenceExpiresOn: '2040-01-01',
})
