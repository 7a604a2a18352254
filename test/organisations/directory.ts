import { randomUUID } from 'node:crypto'
import { database, type Reply } from '../support/client.ts'

export const say = (identityId: string, columns: Record<string, unknown>) =>
  database().query(
    `update public.organisations set ${
      Object.keys(columns).map((name, i) => `${name} = $${i + 2}`).join(', ')
    } where identity_id = $1`,
    [identityId, ...Object.values(columns)],
  )

/** Returns the date in Kuwait this many days from today. */
export async function kuwaitDay(days: number): Promise<string> {
  const { rows } = await database().query(
    `select ((now() at time zone 'Asia/Kuwait')::date + $1::integer)::text as day`,
    [days],
  )
  return rows[0].day
}

/** Sets the last day of a licence to this many days from today. */
export const endLicence = async (identityId: string, days: number) =>
  await say(identityId, { licence_expires_on: await kuwaitDay(days) })

export function ids({ status, body }: Reply): string[] {
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.items.map(({ id }: { id: string }) => id)
}

export const oddWord = () => `zq${randomUUID().replaceAll(/[0-9-]/g, '')}x`
