/**
 * Builds phrases with amounts and their meanings: amounts as people say them, in patterns (a bound, a range,
 * a size and a price), among words that mean nothing to a search. It shares no code with the parser of
 * queries.
 *
 * Every fifth amount is held out: developers of the grammar look only at the others. The held-out amounts
 * therefore show whether the grammar also reads amounts that it was not written for.
 */
export type Phrase = {
  q: string
  read: Record<string, string | number>
  /** Texts that must be reported as left out. */
  ignored?: string[]
  form: string
  held: boolean
}

type Measure = 'sale' | 'rent' | 'size'
/** `dotted` amounts such as 350.000 mean nothing without a listing type; `saleOnly`, as 1.5m, need a sale. */
type Amount = {
  measure: Measure
  value: number
  said: string[]
  only?: 'dotted' | 'saleOnly'
  held: boolean
}
type Range = { measure: Measure; from: number; to: number; said: string[]; held: boolean }

const amounts: Amount[] = amountsOf([
  ['sale', 100_000, 'مية الف', 'ميه ألف', 'مئة الف دينار'],
  ['sale', 200_000, 'ميتين الف', 'مئتين ألف', 'ميتين الف دينار'],
  ['sale', 300_000, 'ثلاثمية الف', 'ثلاثميه ألف', 'ثلاثمائة ألف دينار'],
  ['sale', 400_000, 'اربعمية الف', 'أربعميه الف', 'أربعمائة ألف'],
  ['sale', 500_000, 'خمسمية الف', 'خمسميه ألف', 'خمسمائة ألف دينار'],
  ['sale', 600_000, 'ستمية الف', 'ستميه الف', 'ستمائة ألف'],
  ['sale', 700_000, 'سبعمية الف', 'سبعميه ألف'],
  ['sale', 800_000, 'ثمانمية الف', 'ثمانميه الف', 'ثمانمائة ألف'],
  ['sale', 900_000, 'تسعمية الف', 'تسعميه ألف دينار'],
  ['sale', 30_000, 'ثلاثين الف', 'ثلاثين ألف دينار'],
  ['sale', 60_000, 'ستين الف', 'ستين ألف'],
  ['sale', 70_000, 'سبعين الف', 'سبعين الف دك'],
  ['sale', 90_000, 'تسعين الف', 'تسعين ألف دينار'],
  ['sale', 120_000, 'مية وعشرين الف', 'ميه و عشرين ألف'],
  ['sale', 150_000, 'مية وخمسين الف', 'مئة وخمسين ألف دينار'],
  ['sale', 250_000, 'ميتين وخمسين الف', 'ميتين و خمسين ألف دينار'],
  ['sale', 340_000, 'ثلاثمية واربعين الف', 'ثلاثميه وأربعين ألف'],
  ['sale', 460_000, 'اربعمية وستين الف', 'أربعميه وستين ألف'],
  ['sale', 580_000, 'خمسمية وثمانين الف', 'خمسميه وثمانين الف دينار'],
  ['sale', 670_000, 'ستمية وسبعين الف', 'ستميه وسبعين ألف دينار'],
  ['sale', 730_000, 'سبعمية وثلاثين الف', 'سبعميه وثلاثين ألف'],
  ['sale', 890_000, 'ثمانمية وتسعين الف', 'ثمانميه وتسعين ألف'],
  ['sale', 950_000, 'تسعمية وخمسين الف', 'تسعميه وخمسين الف'],
  ['sale', 85_000, '85 الف', '٨٥ ألف', '85الف', '۸۵ الف'],
  ['sale', 240_000, '240 الف', '٢٤٠ ألف دينار', '٢٤٠الف'],
  ['sale', 385_000, '385 الف', '٣٨٥ الف دك', '۳۸۵ ألف'],
  ['sale', 425_000, '425,000 دينار', '٤٢٥٬٠٠٠ د.ك', '425000 دك', '425,000 kd'],
  ['sale', 310_000, '310.000 دك', '٣١٠.٠٠٠ دينار', '310.000 kd'],
  ['sale', 1_350_000, '1,350,000 د.ك', '1350000 دينار', '1.350.000 دك'],
  ['sale', 450_000, '450k', '450K', '450k kd'],
  ['sale', 1_500_000, '1.5m', '1.5M', '1.5m kd'],
  ['sale', 1_200_000, '1.2 مليون', '١٫٢ مليون', '1.2 million'],
  ['sale', 2_000_000, 'مليونين', '2 مليون', '٢ مليون دينار', '2 million kd'],
  ['sale', 1_000_000, 'مليون', 'مليون دينار', '1 مليون'],
  ['sale', 3_000_000, '3 ملايين', '٣ ملايين دينار', '3 مليون'],
  ['sale', 500_000, 'نص مليون', 'نصف مليون', 'نص مليون دينار'],
  ['sale', 250_000, 'ربع مليون', 'ربع مليون دينار'],
  ['sale', 750_000, 'مليون الا ربع', 'مليون إلا ربع'],
  ['sale', 1_500_000, 'مليون ونص', 'مليون ونصف', 'مليون و نص'],
  ['sale', 1_250_000, 'مليون وربع', 'مليون و ربع'],
  ['sale', 2_500_000, 'مليونين ونص', '2 مليون ونص', '٢ مليون و نص'],
  ['sale', 1_750_000, 'مليونين الا ربع', '2 مليون إلا ربع'],
  ['sale', 1_200_000, 'مليون و200', 'مليون و٢٠٠ الف', 'مليون و 200 ألف'],
  ['sale', 1_400_000, 'مليون واربعمية الف', 'مليون و أربعميه ألف'],
  ['sale', 1_650_000, 'مليون وستمية وخمسين الف', 'مليون و650', 'مليون و ٦٥٠ الف'],
  ['sale', 2_300_000, 'مليونين و300 الف', '2 مليون و٣٠٠ الف', 'مليونين وثلاثمية الف'],
  ['rent', 200, 'ميتين دينار', 'مئتين دينار', '200 دينار'],
  ['rent', 300, 'ثلاثمية دينار', 'ثلاثميه دك', 'ثلاثمائة دينار'],
  ['rent', 450, 'اربعمية وخمسين دينار', 'أربعميه وخمسين د.ك'],
  ['rent', 180, 'مية وثمانين دينار', 'ميه وثمانين دك'],
  ['rent', 650, 'ستمية وخمسين دينار', 'ستميه و خمسين دينار'],
  ['rent', 350, '350 دينار', '٣٥٠ دك', '350 د.ك', '۳۵۰ دينار'],
  ['rent', 275, '275 kd', '275KD', '275 KWD'],
  ['rent', 320, 'KD 320', 'KD320'],
  ['rent', 420, '420.000 دك', '٤٢٠.٠٠٠ د.ك', '420.000 kd'],
  ['rent', 1000, 'الف دينار', 'ألف دينار', '1,000 دك', '1000 kd'],
  ['rent', 1200, 'الف وميتين دينار', 'الف و200 دينار', '1,200 kd'],
  ['rent', 1500, 'الف وخمسمية دينار', 'ألف و ٥٠٠ دينار', '1500 دينار'],
  ['rent', 2000, 'الفين دينار', 'ألفين دك', '2k kd'],
  ['rent', 2500, 'الفين وخمسمية دينار', 'الفين و500 دينار', '2500 kd'],
  ['rent', 3000, '3 الاف دينار', '٣ آلاف دك', '3000 دينار'],
  ['size', 400, '400 متر', '٤٠٠م', '400م2', '400 م²', '٤٠٠ متر مربع'],
  ['size', 375, '375 متر', '375م', '٣٧٥ م٢'],
  ['size', 200, 'ميتين متر', 'مئتين متر مربع', '200 متر'],
  ['size', 250, 'ميتين وخمسين متر', '250 م', '250 sqm'],
  ['size', 500, 'خمسمية متر', 'خمسميه متر مربع', '500 m2'],
  ['size', 600, '600 sqm', '600 m2', '600sqm'],
  ['size', 1000, 'الف متر', 'ألف متر مربع', '1,000 متر', '1,000 sqm'],
  ['size', 2000, 'الفين متر', 'ألفين متر مربع', '2000 متر'],
  ['size', 50_000, '50 الف متر', '٥٠ ألف متر مربع', 'خمسين الف متر'],
])

const ranges: Range[] = ([
  ['sale', 300_000, 400_000, 'من 300 لين 400 الف', '٣٠٠ لين ٤٠٠ الف', 'بين 300 و400 الف'],
  ['sale', 250_000, 280_000, '250-280 الف', '٢٥٠ - ٢٨٠ ألف', '250-280k'],
  ['sale', 100_000, 200_000, 'من مية لين ميتين الف', 'من مية الى ميتين الف'],
  ['sale', 650_000, 700_000, 'من 650 ل700 الف', 'من ٦٥٠ ل ٧٠٠ الف', 'من 650 لـ 700 الف'],
  ['sale', 1_000_000, 2_000_000, '1-2 مليون', 'من 1 الى 2 مليون'],
  ['rent', 250, 350, 'من 250 الى 350 دينار', '٢٥٠-٣٥٠ دك', '250-350 kd', 'بين 250 و 350 دينار'],
  ['rent', 400, 500, 'من اربعمية لين خمسمية دينار', 'من 400 لين 500 د.ك'],
  ['size', 400, 500, 'من 400 لين 500 متر', '400-500 م', 'بين ٤٠٠ و٥٠٠ متر'],
  ['size', 750, 1000, 'من 750 الى 1000 متر', '750-1000 sqm'],
] as [Measure, number, number, ...string[]][]).map(([measure, from, to, ...said], nth) => ({
  measure,
  from,
  to,
  said,
  held: nth % 5 === 3,
}))

/** Numbers that count as prices only with both a bound and a type. */
const bare: [number, ...string[]][] = [
  [300, '300', '٣٠٠', '۳۰۰'],
  [450, '450', '٤٥٠'],
  [250, '250', '٢٥٠', 'ميتين وخمسين'],
  [600, '600', 'ستمية'],
  [350, '350', '٣٥٠', 'ثلاثمية وخمسين'],
]

/** An unknown word before a multiplier makes the whole phrase unreadable. */
const unreadable = ['كم الف', 'كذا مليون', 'ثمنين الف', 'شوية الاف', 'جم الف دينار']

const arabic = {
  about: ['{}', 'سعر {}', 'ب{}', 'حدود {}', 'بحدود {}', 'حوالي {}', 'تقريبا {}'],
  most: ['اقل من {}', 'أرخص من {}', 'تحت {}', 'ما يتعدى {}', 'لا يزيد عن {}', 'لغاية {}'],
  least: ['اكثر من {}', 'فوق {}', 'أعلى من {}'],
  between: ['من {} الى {}', 'من {} لين {}', 'من {} ل {}'],
  kinds: ['شقة', 'بيت', 'فيلا', 'عمارة'],
  types: { SALE: ['للبيع'], RENT: ['للايجار', 'للإيجار'] },
  places: ['السالمية', 'حولي', 'مشرف', 'سلوى', 'الجابرية', 'الفنطاس'],
  unread: ['مرتب', 'نظيف', 'فخم', 'هادئ', 'ممتاز'],
}
const english: typeof arabic = {
  about: ['{}', 'around {}', 'about {}'],
  most: ['under {}', 'below {}', 'less than {}', 'max {}', 'up to {}'],
  least: ['over {}', 'above {}', 'more than {}'],
  between: ['from {} to {}', 'between {} and {}'],
  kinds: ['flat', 'villa', 'house'],
  types: { SALE: ['for sale'], RENT: ['for rent'] },
  places: ['salmiya', 'mishref', 'salwa'],
  unread: ['clean', 'quiet', 'lovely'],
}

const isArabic = (text: string) => /\p{Script=Arabic}/u.test(text)
const startsWithMultiplier = (text: string) => /^(ب?[اأ]لف|ب?مليون)/.test(text)
const asPrice = { sale: 'SALE', rent: 'RENT' } as const

/** Builds `count` different phrases; the same seed gives the same phrases. */
export function amountPhrases(count: number, seed = 1): Phrase[] {
  const random = randomFrom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]
  const phrases = new Map<string, Phrase>()
  const makers = [
    ...amounts.flatMap((amount) => [() => single(amount), () => single(amount)]),
    ...amounts.map((amount) => () => pair(amount)),
    ...ranges.flatMap((range) => [() => shared(range), () => shared(range)]),
    ...bare.flatMap((numbers, nth) => [() => unitless(numbers, nth), () => unitless(numbers, nth)]),
    ...unreadable.map((text, nth) => () => left(text, nth % 5 === 3)),
  ]
  while (phrases.size < count) {
    for (const make of makers) {
      const phrase = make()
      if (phrase) phrases.set(phrase.q, phrase)
    }
  }
  return [...phrases.values()].slice(0, count)

  /** Makes a phrase with one amount, in a pattern such as "at most". */
  function single(amount: Amount): Phrase {
    const text = pick(amount.said)
    const frame = pick(['about', 'most', 'least'] as const)
    const language = isArabic(text) ? arabic : english
    const fits = language[frame].filter((words) =>
      !(amount.measure === 'size' && /سعر|رخص|^ب\{/.test(words)) &&
      !(words === 'ب{}' && /^([اأ]لف|kd)/i.test(text))
    )
    const said = pick(fits).replace('{}', text)
    const type = typeFor(amount)
    const lost = amount.only === 'dotted' && !type
    return {
      q: sentence(language, type, said),
      read: {
        ...(type && { type }),
        ...(!lost && {
          about: about(amount.measure, amount.value),
          most: { [`${field(amount.measure)}Max`]: amount.value },
          least: { [`${field(amount.measure)}Min`]: amount.value },
        }[frame]),
      },
      ...(lost && { ignored: [text.split(' ')[0]] }),
      form: `${amount.said[0]}, ${frame}`,
      held: amount.held,
    }
  }

  /** Joins two amounts: a range of one measure, or a size and a price. */
  function pair(amount: Amount): Phrase | undefined {
    const other = pick(
      amounts.filter((one) =>
        amount.measure === 'size' ? one !== amount : one.measure === amount.measure
      ),
    )
    const [text, otherText] = [pick(amount.said), pick(other.said)]
    const language = isArabic(text + otherText) ? arabic : english
    const type = typeFor(other.measure === 'size' ? amount : other, true)
    const form = `${amount.said[0]} and ${other.said[0]}`
    const held = amount.held || other.held
    if (amount.measure !== other.measure) {
      return {
        q: sentence(language, type, text, otherText),
        read: {
          type: type!,
          ...about(amount.measure, amount.value),
          ...about(other.measure, other.value),
        },
        form,
        held,
      }
    }
    if (amount.value >= other.value) return
    const said = pick(language.between).replace('{}', text).replace('{}', otherText)
    const name = field(amount.measure)
    return {
      q: sentence(language, type, said),
      read: { type: type!, [`${name}Min`]: amount.value, [`${name}Max`]: other.value },
      form,
      held,
    }
  }

  /** Makes a phrase with a range that names its unit only once. */
  function shared({ measure, from, to, said, held }: Range): Phrase {
    const text = pick(said)
    const type = typeFor({ measure })
    const name = field(measure)
    return {
      q: sentence(isArabic(text) ? arabic : english, type, text),
      read: { ...(type && { type }), [`${name}Min`]: from, [`${name}Max`]: to },
      form: said[0],
      held,
    }
  }

  /**
   * Makes a phrase with a bound on a number without a unit. For a sale the number means thousands, for a rent
   * dinars; without a type it is ignored.
   */
  function unitless([value, ...said]: typeof bare[number], nth: number): Phrase {
    const frame = pick(['most', 'least'] as const)
    const text = pick(said)
    const type = pick(['SALE', 'RENT', undefined] as const)
    const price = type === 'SALE' ? value * 1000 : value
    return {
      q: sentence(arabic, type, pick(arabic[frame]).replace('{}', text)),
      read: {
        ...(type && { type, [frame === 'most' ? 'priceMax' : 'priceMin']: price }),
      },
      ...(!type && { ignored: [text] }),
      form: `${said[0]}, ${frame}, ${type}`,
      held: nth % 5 === 3,
    }
  }

  /** Makes a phrase whose amount is unreadable and must be left out. */
  function left(text: string, held: boolean): Phrase {
    const multiplier = /الف|الاف|مليون/.exec(text)![0]
    return {
      q: sentence(arabic, 'SALE', text),
      read: { type: 'SALE' },
      ignored: [multiplier],
      form: text,
      held,
    }
  }

  /** Returns a type that suits the amount; sometimes none, if the amount needs none and `given` is false. */
  function typeFor({ measure, only }: Pick<Amount, 'measure' | 'only'>, given = false) {
    const type = measure === 'size' ? pick(['SALE', 'RENT'] as const) : asPrice[measure]
    return given || only === 'saleOnly' || random() < 0.7 ? type : undefined
  }

  /**
   * Mixes amounts with a kind, type, place and ignored words, but puts no ignored one before a multiplier.
   */
  function sentence(
    language: typeof arabic,
    type: 'SALE' | 'RENT' | undefined,
    ...said: string[]
  ): string {
    const head = [pick(language.kinds), ...(type ? [pick(language.types[type])] : [])]
    const parts = [...head, ...said]
    if (random() < 0.6) {
      parts.splice(head.length + said.length * pick([0, 1]), 0, pick(language.places))
    }
    for (let unread = pick([0, 1, 2]); unread > 0; unread--) {
      const at = Math.floor(random() * (parts.length + 1))
      // Between two amounts an unread word could belong to either.
      const between = said.includes(parts[at - 1]) && said.includes(parts[at])
      if (between || startsWithMultiplier(parts[at] ?? '')) continue
      parts.splice(at, 0, pick(language.unread.filter((word) => !parts.includes(word))))
    }
    return parts.join(' ')
  }
}

function amountsOf(rows: [Measure, number, ...string[]][]): Amount[] {
  return rows.map(([measure, value, ...said], nth) => ({
    measure,
    value,
    said,
    ...(/^\d+\.000 /.test(said[0]) && { only: 'dotted' as const }),
    ...(/^1\.5m$/.test(said[0]) && { only: 'saleOnly' as const }),
    held: nth % 5 === 3,
  }))
}

const field = (measure: Measure) => measure === 'size' ? 'areaM2' : 'price'

/** Returns the range that a single amount means: ten percent below it to ten percent above. */
function about(measure: Measure, value: number) {
  const name = field(measure)
  return { [`${name}Min`]: value * 9 / 10, [`${name}Max`]: value * 11 / 10 }
}

/** Mulberry32: a small generator of numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = state + 0x6D2B79F5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296
  }
}
