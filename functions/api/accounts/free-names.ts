// Whether a person may use this name. Unreadable names and names that resemble the service's are not allowed.
import { backend } from '../../_shared/database/db.ts'

export const isFreeName = (name: string) =>
  backend<boolean>('is_free_name', { name, ofPerson: true })
