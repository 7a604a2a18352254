// The fields that owners write, in the order of the record: how each is shown in records and sent in
// requests, and whether cards include it. The database has its own rules for them in
// sql/06_properties/2_rules_fields.sql.
import { z } from '@hono/zod-openapi'
import { typedPlainly, upTo } from '../../_shared/input/texts.ts'
import {
  Count,
  describedAs,
  Latitude,
  Longitude,
  Money,
  MoneyOrNull,
  orNull,
} from '../http/route.ts'
import {
  code,
  codeOf,
  codes,
  decimal,
  ExpenseInput,
  line,
  LocationInput,
  maybe,
  maybePrice,
  name,
  RentConditionInput,
  text,
  whole,
  year,
} from './values.ts'

type Field = { record: z.ZodType; input: z.ZodType; card: boolean }

const field = <R extends z.ZodType, I extends z.ZodType>(record: R, input: I) =>
  ({ record, input, card: false }) as const
const onCard = <R extends z.ZodType, I extends z.ZodType>(record: R, input: I) =>
  ({ record, input, card: true }) as const

const shown = z.string().nullable()
const shownLike = (example: string) => shown.openapi({ example })
const shownCode = (vocabulary: string, example: string) =>
  shownLike(example).describe(codeOf(vocabulary))
const shownYear = z.int().min(1950)
const shownSize = z.number().min(1).max(10_000_000)
const rooms = Count.max(100)

const RentCondition = z.object({
  code: z.string().describe(codeOf('rentCondition')),
  textAr: z.string().describe('The condition in Arabic, in the words of the owner or of the code.'),
  text: z.string().describe('The owner’s own words, else those of the code by Accept-Language.'),
})

const Expense = z.object({
  code: z.string().describe(codeOf('expense')),
  labelAr: z.string().describe('Its name in Arabic, in the words of the owner or of the code.'),
  label: z.string().describe('The owner’s own words, else those of the code by Accept-Language.'),
  amount: Money,
  period: z.enum(['month', 'year', 'once']).describe('How often it is paid.'),
})

const Location = z
  .object({
    lat: Latitude,
    lng: Longitude,
    precision: z.enum(['exact', 'block', 'area']).describe(
      'How exactly the owner shows it: `exact` is the very place, `area` the point of the area.',
    ),
  }).openapi('Location', { description: 'A place on the map.' })

export const offer = {
  kind: onCard(
    shownLike('apartment').describe(
      'What it is: a code of `GET /meta/kinds`. A draft may have none.',
    ),
    maybe(code),
  ),
  usage: onCard(
    shownCode('usage', 'investment'),
    maybe(code),
  ),
  titleAr: onCard(
    shownLike('شقة للإيجار في السالمية').describe('A draft may have none.'),
    maybe(line(5, 120)),
  ),
  titleEn: onCard(
    shown.describe('null: only the Arabic one.'),
    maybe(line(5, 120)),
  ),
  descriptionAr: field(
    shown,
    maybe(text(4000)),
  ),
  descriptionEn: field(
    shown,
    maybe(text(4000)),
  ),
  price: onCard(
    MoneyOrNull.describe('In dinars; of RENT for a month. null: not disclosed.'),
    maybePrice,
  ),
}

export const details = {
  isNegotiable: onCard(
    z.boolean().describe('Whether the price can be negotiated.'),
    maybe(z.boolean()),
  ),
  propertyIncome: field(
    MoneyOrNull.describe(
      'What it earns in a month, in dinars. 0 is nothing; null: not known.',
    ),
    maybePrice,
  ),
  requestYear: onCard(
    shownYear.nullable().describe(
      'EXCHANGE only: the year that the offered property is compared by (طلب), up to this one.',
    ),
    maybe(year(1950)),
  ),
  requiredYear: onCard(
    shownYear.nullable().describe(
      'EXCHANGE only: the year that the wanted property is compared by (مع), up to this one.',
    ),
    maybe(year(1950)),
  ),
  rentConditions: field(
    z.array(RentCondition).describe('RENT only: what the owner asks of tenants.'),
    maybe(z.array(RentConditionInput).max(20)),
  ),
  additionalExpenses: field(
    z.array(Expense).describe('RENT only: what is paid beside the rent.'),
    maybe(z.array(ExpenseInput).max(20)),
  ),
  landAreaM2: onCard(
    shownSize.nullable().describe('Area of the plot in square metres.'),
    maybe(decimal(1, 10_000_000)),
  ),
  builtAreaM2: onCard(
    shownSize.nullable().describe('Built area in square metres.'),
    maybe(decimal(1, 10_000_000)),
  ),
  bedrooms: onCard(
    rooms.nullable(),
    maybe(whole(0, 100)),
  ),
  bathrooms: onCard(
    rooms.nullable(),
    maybe(whole(0, 100)),
  ),
  floorNo: field(
    z.int().min(-10).max(200).nullable().describe(
      '0 is the ground floor, below it are basements.',
    ),
    maybe(whole(-10, 200)),
  ),
  buildingYear: field(
    z.int().min(1900).nullable().describe(
      'When it was built, or will be: at most five years ahead.',
    ),
    maybe(year(1900, 5)),
  ),
  furnished: onCard(
    shownCode('furnished', 'none'),
    maybe(code),
  ),
  plotPosition: field(
    shownCode('plotPosition', 'corner'),
    maybe(code),
  ),
  finishing: field(
    shownCode('finishing', 'super_deluxe'),
    maybe(code),
  ),
  amenities: field(
    z.array(z.string()).openapi({ example: ['elevator'] }).describe(
      'Codes of `GET /meta/amenities`.',
    ),
    maybe(codes),
  ),
  documentType: field(
    shownCode('documentType', 'free_deed'),
    maybe(code),
  ),
  isDirect: onCard(
    z.boolean().describe('From the owner without a broker; individuals only.'),
    maybe(z.boolean()),
  ),
  governorateId: onCard(
    shownLike('hawalli').describe('An id of `GET /meta/governorates`.'),
    maybe(code).describe(
      'An id of `GET /meta/governorates`; without it that of the area.',
    ),
  ),
  areaId: onCard(
    shownLike('salmiya').describe('An id of `GET /meta/areas`.'),
    maybe(code),
  ),
  block: onCard(
    shownLike('10').describe('The block of the area (قطعة).'),
    maybe(name(30)),
  ),
  street: field(
    shown.describe('Name or number of the street.'),
    maybe(name(120)),
  ),
  building: field(
    shown.describe('Name or number of the building.'),
    maybe(name(60)),
  ),
  paciNo: field(
    shownLike('12345678').describe('The PACI number of the address: eight digits.'),
    maybe(
      typedPlainly(8).check(upTo(8)).regex(/^[0-9]{8}$/),
    ),
  ),
  location: onCard(
    orNull(Location).describe(
      'To others the very place if precision is exact, within about 250 m if it is block, and the ' +
        'point of the area if it is area; null: not given.',
    ),
    orNull(LocationInput).optional().describe(
      'The place as it is; precision says how it is shown.',
    ),
  ),
}

export const ways = {
  allowCall: field(
    z.boolean().describe(
      'Whether the owner gives a phone to whoever asks: to others only while there is one to give, ' +
        'to the owner what was chosen.',
    ),
    maybe(z.boolean()),
  ),
  allowWhatsapp: field(
    z.boolean().describe(
      'Whether the owner can be asked by WhatsApp: to others and the owner as `allowCall`.',
    ),
    maybe(z.boolean()),
  ),
  allowChat: field(
    z.boolean().describe('Whether the owner can be asked by chat.'),
    maybe(z.boolean()),
  ),
}

export const wanted = {
  wantedKinds: field(
    z.array(z.string()).describe(
      'EXCHANGE only: what is wanted in return, codes of `GET /meta/kinds`.',
    ),
    maybe(codes),
  ),
  wantedAreaIds: field(
    z.array(z.string()).describe(
      'EXCHANGE only: where it is wanted, ids of `GET /meta/areas`.',
    ),
    maybe(codes),
  ),
}

type Fields = Record<string, Field>

export const recordOf = <All extends Fields>(fields: All) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { record }]) => [name, record]),
  ) as { [Name in keyof All]: All[Name]['record'] }

export const cardOf = <All extends Fields>(fields: All) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, { card }]) => card).map((
      [name, { record }],
    ) => [name, record]),
  ) as { [Name in keyof All as All[Name]['card'] extends true ? Name : never]: All[Name]['record'] }

const written = { ...offer, ...details, ...ways, ...wanted }

/** The fields as sent in requests. A field without its own description takes that of the record. */
export const inputs = describedAs(
  recordOf(written),
  Object.fromEntries(
    Object.entries(written).map(([name, { input }]) => [name, input]),
  ) as { [Name in keyof typeof written]: typeof written[Name]['input'] },
)
