/**
 * Compares the database cost of search texts that are designed to be expensive with that of ordinary texts.
 * No text of 200 characters and no cursor may cost more than ten times the median of the ordinary texts on
 * the same rows. Where /proc exists, it measures the CPU time of the backend, which does not depend on other
 * load; elsewhere it measures elapsed time.
 */
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { build, connected } from '../local/schema/build.ts'
import { onTemporaryServer } from '../local/schema/temporary-server.ts'
import { loadListings } from './generate-listings.ts'
import { percentile } from './http-load.ts'

export type Cost = { door: string; text: string; ms: number; times: number }

const most = 10

function fill(...texts: string[]) {
  let filled = ''
  for (let i = 0; filled.length + texts[i % texts.length].length < 200; i++) {
    filled += `${filled && ' '}${texts[i % texts.length]}`
  }
  return filled
}
const letters = [...'ابتثجحخدذرزسشصضطظعغفقكلمنهوي']
/** Generates distinct words that no listing contains. */
const unknown = (count: number, size: number) =>
  Array.from(
    { length: count },
    (_, i) =>
      Array.from({ length: size }, (_, j) => letters[(i * 7 + j * 11 + i * j) % letters.length])
        .join(''),
  ).join(' ')
const misspelt = [
  'ديواتية',
  'السالممية',
  'كامرات',
  'مفرووشة',
  'تشطييب',
  'موقغ',
  'هادىءء',
  'سرداااب',
]
/** Generates words that no listing contains: frequent first letters with an unknown ending. */
const begun = (end: string) =>
  fill(
    ...'مح سل نو را قب عط دي شم فك جر هن ضل ثق زم خص غب طر ذك بي حص'.split(' ').map((two) =>
      two + end
    ),
  )
const areas = [
  'السالمية',
  'حولي',
  'الجابرية',
  'الرميثية',
  'سلوى',
  'بيان',
  'مشرف',
  'الشعب',
  'الفنطاس',
  'المنقف',
  'الفحيحيل',
  'المهبولة',
  'الجهراء',
  'خيطان',
  'الفروانية',
  'العمرية',
  'الرابية',
  'الاندلس',
  'قرطبة',
  'اليرموك',
  'السرة',
  'الزهراء',
  'حطين',
  'الشهداء',
  'الصديق',
  'السلام',
  'القصور',
  'العدان',
  'القرين',
  'المسايل',
  'ابوفطيرة',
  'الفنيطيس',
  'صباح السالم',
  'العقيلة',
]

/** Ordinary texts. The names are those of searches with words in docs/speed.md. */
const ordinary: Record<string, string[]> = {
  'common word': ['شقة', 'فيلا', 'تشطيب', 'موقع'],
  'two words': ['شقة فاخر', 'بيت هادئ', 'أرض مميز'],
  'name of a place': ['السالمية', 'شقة حولي', 'الجهرا'],
  'misspelt word': ['ديواتية', 'شقه السالممية', 'كامرات'],
  'words that never meet': ['سوبر وظهر', 'فيلا شقة'],
  'nothing matches': ['غغغظظظ', 'xyzzyq'],
  'read as filters': ['شقة للايجار السالمية غرفتين', 'فيلا للبيع في بيان 400 متر'],
}

const hostile: Record<string, string> = {
  'one letter a hundred times': fill('ا'),
  'two letters in turn': fill('ا', 'ب'),
  'every letter': fill(...letters),
  'a common word again and again': fill('شقة'),
  'common words in turn': fill('شقة', 'فاخر', 'موقع', 'تشطيب', 'هادئ'),
  'kinds in turn': fill('شقة', 'بيت', 'فيلا', 'أرض', 'شاليه', 'مزرعة', 'محل', 'مكتب'),
  'kinds joined by or': fill('شقة او', 'بيت او', 'فيلا او', 'أرض او', 'شاليه او', 'عمارة او'),
  'eight misspelt words': misspelt.join(' '),
  'misspelt words again and again': fill(...misspelt),
  'misspelt words, one letter off each time': fill(...misspelt.map((word) => `${word}ا`)),
  'unknown words of three letters': unknown(49, 3),
  'unknown words of four letters': unknown(39, 4),
  'unknown words of six letters': unknown(28, 6),
  'unknown words of ten letters': unknown(18, 10),
  'one unknown word of 199 letters': unknown(1, 199),
  'one unknown word again and again': fill('غغغظظظ'),
  'three letters that begin as many do': begun('ظ'),
  'four letters that begin as many do': begun('ظظ'),
  'five letters that begin as many do': begun('ظظظ'),
  'six letters that begin as many do': begun('ظظظظ'),
  'ten letters that begin as many do': begun('ظ'.repeat(8)),
  '34 areas': fill(...areas),
  'a kind and 30 areas': fill('شقة', ...areas),
  'eight areas and eight kinds': fill(
    'شقة او بيت او فيلا او أرض او شاليه او مزرعة او محل او مكتب',
    ...areas.slice(0, 8),
  ),
  'areas with what stands before names': fill(...areas.map((area) => `ب${area}`)),
  'areas joined by and': fill(...areas.map((area) => `و${area}`)),
  'governorates': fill('محافظة حولي', 'محافظة العاصمة', 'محافظة الاحمدي', 'محافظة الجهراء'),
  '28 times less than': fill('اقل من'),
  'less than a number': fill('اقل من 5'),
  'between and': fill('بين 3 و 7'),
  'from to': fill('من 1 الى 9'),
  'numbers': fill('1', '22', '333', '4444'),
  'numbers and units in turn': fill('5 متر', '3 غرف', '7 الف'),
  'numbers of blocks': fill('قطعة 1', 'ق 2', 'قطعه 3'),
  'numbers that are joined': fill('5م', '3غ', 'ق7'),
  'floors': fill('دور اول', 'طابق 3', 'ارضي'),
  'a floor that nobody has': 'طابق 150',
  'a size that nobody has': '3 متر',
  'thousands': fill('الف', 'مليون'),
  'negations': fill('غير', 'بدون', 'مو'),
  'areas that are negated': fill(...areas.map((area) => `مو ${area}`)),
  'all governorates negated':
    'مو العاصمة ولا محافظة حولي ولا محافظة الفروانية ولا محافظة مبارك الكبير ولا محافظة الاحمدي ولا محافظة الجهراء',
  'an area and its negation': 'السالمية مو السالمية',
  'negations of furnishing': fill('غير مفروش', 'بدون فرش'),
  'types that exclude each other': fill('للبيع', 'للايجار', 'للبدل'),
  'words that say nothing': fill('في', 'من', 'مطلوب', 'مع'),
  'commas alone': ','.repeat(200),
  'letters and commas': 'ا,'.repeat(100),
  'digits and commas': '1,'.repeat(100),
  'dashes between digits': '1-'.repeat(100),
  'decimals': '1.'.repeat(100),
  'phones': fill('99887766'),
  'digits in a row': '1234567890'.repeat(20),
  'ligatures that grow': 'ﷺ'.repeat(200),
  'a few ligatures that grow': 'ﷺ'.repeat(11),
  'ligatures of two letters': 'ﻻ'.repeat(200),
  'square signs': '㌖'.repeat(114),
  'fractions': '½'.repeat(200),
  'marks on every letter': 'اً'.repeat(100),
  '30 marks on each letter': `ا${'ً'.repeat(30)}`.repeat(6),
  'tatweel': 'ـ'.repeat(199) + 'ا',
  'the article again and again': 'ال'.repeat(100),
  'letters that are one': 'ىئؤإأآةگکیۃ'.repeat(18),
  'characters beyond the first plane': '𝔸𝕓𝟙'.repeat(33),
  'quotes and operators': `'a' & !b | `.repeat(18),
  'percent signs': '%a_'.repeat(66),
  'codes of listings': fill('KW-104233', 'kw 104234'),
  'names in English': fill('salmiya', 'hawally', 'jabriya', 'apartment', 'villa'),
  'landmarks that are misspelt': fill('يم الافنيوز', 'قريب من المطار'),
  'amenities': fill('مسبح', 'مصعد', 'غرفة خادمة'),
  'orders and owners': fill('ارخص', 'الأحدث', 'من المالك', 'بدون مكتب'),
  'words that are joined': fill('شقهللايجار', 'بيتفيلا', 'ارضللبيع'),
  'rare and common words': fill('شقة', 'ديوانية', 'سرداب', 'فاخر', 'مصعد', 'موقع', 'حديقة'),
}

type Door = [name: string, call: string]
const doors: Door[] = [
  ['search', `private.search('standard', '{}', $1)`],
  ['search, literal', `private.search('standard', '{}', $1, literal => true)`],
  ['search with filters', `private.search('standard', '{"bedroomsMin":60}', $1)`],
  ['search for deals', `private.search('deal', '{}', $1)`],
  ['search for auctions', `private.search('auction', '{}', $1)`],
  ['search of companies', `private.search('company', '{}', $1)`],
  ['count', `private.count_listings('standard', '{}', $1)`],
  ['map', `private.list_map_listings('[47.5,28.9,48.3,29.5]', 10, '{}', $1)`],
  ['companies', `private.list_organisations('company', $1)`],
  ['suggestions', `private.suggest($1)`],
]

function cpuOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return undefined
  }
}

const rounds = 5

/** Returns the cost of a call in milliseconds. A 422 error is a valid result. */
async function costOf(client: pg.Client, pid: number, sql: string, args: readonly unknown[]) {
  const [began, cpu] = [performance.now(), cpuOf(pid)]
  await client.query(`select ${sql}::text`, [...args]).catch((error) => {
    if (!/^PT422/.test(error.code)) throw error
  })
  // The CPU time is complete only when the backend is idle again, a moment after it has sent the result.
  await client.query('')
  return cpu === undefined ? performance.now() - began : cpuOf(pid)! - cpu
}

const median = (values: number[]) => percentile(values.toSorted((one, other) => one - other), 0.5)

/** Forges cursors that contain other listings than cursors from the service. */
async function forgedCursors(client: pg.Client): Promise<Record<string, string>> {
  const forge = async (count: number) =>
    (await client.query(
      `select private.cursor_of(concat_ws(' ', 'search', 'standard', 'newest', '{شقه}'::text[],
         private.parse_search_filters('{}', 'standard'), null),
         jsonb_build_object('names', ids, 'rest', ids)) as cursor
       from (select array(select property_id from private.search_documents limit $1) as ids) as listed`,
      [count],
    )).rows[0].cursor
  return {
    'cursor with a list of 34': await forge(34),
    'cursor with a list of 60': await forge(60),
  }
}

export async function measureHostileSearches(
  listings: number,
  say: (line: string) => void,
): Promise<Cost[]> {
  return await onTemporaryServer(async (server) => {
    const url = await server.createDatabase('hostile')
    await build(url, 'sql')
    say(`writing ${listings} listings`)
    await loadListings(url, listings, { records: false })
    return await connected(url, (client) => measure(client, say))
  }, { sharedGigabytes: 1 })
}

export async function measure(
  client: pg.Client,
  say: (line: string) => void,
  through = doors.map(([door]) => door),
): Promise<Cost[]> {
  await client.query('set jit = off; set statement_timeout = 0')
  const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid')
  say(cpuOf(pid) === undefined ? 'time that passes' : 'processor time of the backend')
  const costs: Cost[] = []
  for (const [door, sql] of doors.filter(([door]) => through.includes(door))) {
    // On the map, a text is compared with a request without text: the cost depends on the visible part of the
    // map.
    const like = door.startsWith('search') ? doors[0][1] : sql
    const usual = (door === 'map' ? [null] : Object.values(ordinary).flat())
      .map((text) => [like, text] as const)
    const forged = door === 'search' ? Object.entries(await forgedCursors(client)) : []
    const dear = [
      ...Object.entries(hostile).map(([name, text]) => [name, sql, [text]] as const),
      ...forged.map(([name, cursor]) =>
        [name, `private.search('standard', '{}', 'شقة', null, $1)`, [cursor]] as const
      ),
    ]
    const bases: number[] = []
    const spent = dear.map((): number[] => [])
    // Each text is compared with ordinary texts of the same round, which other load slows down equally.
    for (let round = -2; round < rounds; round++) {
      const base: number[] = []
      for (const [i, [, call, args]] of dear.entries()) {
        const [usualCall, text] = usual[i % usual.length]
        base.push(await costOf(client, pid, usualCall, [text]))
        const ms = await costOf(client, pid, call, args)
        if (round >= 0) spent[i].push(ms)
      }
      if (round >= 0) bases.push(median(base))
    }
    costs.push({ door, text: 'ordinary', ms: median(bases), times: 1 })
    dear.forEach(([text], i) =>
      costs.push({
        door,
        text,
        ms: median(spent[i]),
        times: median(spent[i].map((ms, round) => ms / bases[round])),
      })
    )
  }
  return costs
}

/** Returns a table of the eight most expensive texts of each entry point, plus all texts above the limit. */
export function hostileSearchesTable(costs: Cost[]): string[][] {
  const shown = doors.flatMap(([door]) => {
    const [ordinary, ...all] = costs.filter((cost) => cost.door === door)
    const sorted = all.sort((one, other) => other.ms - one.ms)
    if (!ordinary) return []
    return [ordinary, ...sorted.filter(({ times }, i) => i < 8 || times > most)]
  })
  return [
    ['', 'text', 'ms', 'of the median', ''],
    ...shown.map(({ door, text, ms, times }) => [
      door,
      text,
      ms.toFixed(2),
      `${times.toFixed(1)}×`,
      times > most ? `above ${most}` : '',
    ]),
  ]
}
