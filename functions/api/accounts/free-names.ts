// Tells whether a person may take a name. Names that are unreadable or look like the service's are refused.
import { backend } from '../../_shared/database/db.ts'

export const isFreeName = (name: string) =>
  backend<boolean>('is_free_name', { name, ofPerson: true })
