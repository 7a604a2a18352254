import type { Place } from '../frame/router.ts'
import { Find } from './find.tsx'
import { Person } from './person.tsx'

const People = ({ id, query }: Place) => id ? <Person key={id} id={id} /> : <Find given={query.get('q')} />
export default People
