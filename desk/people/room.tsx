import type { Place } from '../frame/router.ts'
import { Find } from './find.tsx'
import { Person } from './person.tsx'

export default function People({ id, query }: Place) {
  return id ? <Person key={id} id={id} /> : <Find given={query.get('q')} />
}
