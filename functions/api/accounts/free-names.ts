/** Which names nobody has: unreadable ones, and those by which people could pass for the service. */
import { backend } from '../../_shared/db.ts'

export const isFreeName = (name: string) =>
  backend<boolean>('is_free_name', { name, ofPerson: true })
