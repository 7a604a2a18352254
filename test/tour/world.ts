import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ask, type Json, must } from './guide.ts'

export const word = `جولة${randomInt(1_000_000_000)}`

export const offered: Record<string, string> = {}

export const ids = (body: Json): string[] => body.items.map((item: Json) => item.id)

const names: Record<string, string> = {
  house: 'بيت واسع',
  floor: 'دور مستقل',
  villa: 'فيلا حديثة',
  residential_plot: 'قسيمة سكنية',
}

export const listing = (
  { kind = 'house', ...fields }: { kind?: string } & Record<string, unknown>,
) => ({
  ...fields,
  kind,
  titleAr: `${names[kind]} في مشرف ${word}`,
  descriptionAr: 'الموقع قريب من المسجد والجمعية والمدارس.',
  landAreaM2: 400,
  governorateId: 'hawalli',
  areaId: 'mishref',
  location: { lat: 29.2761, lng: 48.0682, precision: 'block' },
  publish: true,
})

export async function publish(fields: Parameters<typeof listing>[0]): Promise<Json> {
  const { body } = await ask('POST', '/properties', listing(fields), { status: 201 })
  must(body.status === 'active', 'the listing was to be active')
  return body
}

export const same = (left: string[], right: string[]) =>
  isDeepStrictEqual([...left].sort(), [...right].sort())
