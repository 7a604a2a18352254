import type { Person } from '../support/client.ts'

export const reason = 'إعلانات مخالفة'

export const statusOf = (by: Person, id: string, body: object) =>
  by.patch(`/admin/users/${id}/status`, { reason, ...body })

export const identityOf = (by: Person, id: string, status: string) =>
  by.patch(`/admin/identities/${id}/status`, { status, reason })
