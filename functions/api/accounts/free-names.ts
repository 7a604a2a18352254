// Tells whether a name may be taken. Unreadable names and names that look like the service's may not.
import { backend } from '../../_shared/database/db.ts'

export const isFreeName = (name: string) =>
  backend<boolean>('is_free_name', { name, ofPerson: true })
