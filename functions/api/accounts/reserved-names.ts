/** Names by which people could pass for the service itself. */
import { backend } from '../../_shared/db.ts'

export const isReservedName = (name: string) =>
  backend<boolean>('is_reserved_name', { name, ofPerson: true })
