import pg from 'pg'
import { databaseAt } from '../../local/schema/connection.ts'
import { newPerson, type Person } from './accounts.ts'
import { atTheEnd, databaseUrl, must, show } from './guide.ts'

export async function newAdmin(): Promise<Person> {
  const admin = await newPerson('مشرف الجولة')
  await promote(admin)
  return admin
}

export async function promote(person: Person) {
  must(databaseUrl, 'an admin is made by SQL: the tour needs DATABASE_URL')
  await runSql(
    `insert into public.admins (account_id, role)
     select identities.account_id, 'admin' from public.identities where identities.id = $1`,
    person.identityId,
  )
  atTheEnd(() => dismiss(person))
  show('SQL: a row in public.admins')
}

async function dismiss({ identityId }: Person) {
  try {
    await runSql(
      `delete from public.admins where account_id =
         (select identities.account_id from public.identities where identities.id = $1)`,
      identityId,
    )
  } catch (error) {
    if ((error as pg.DatabaseError).hint !== 'last_admin') throw error
    show('An admin of the tour stays: there is no other, and nobody has its password.')
  }
}

async function runSql(text: string, id: string) {
  const client = new pg.Client(databaseAt(databaseUrl!))
  await client.connect()
  await client.query(text, [id]).finally(() => client.end())
}
