import { expect, test } from 'vitest'
import { beginning as shortened } from '../../functions/_shared/input/texts.ts'
import { database, type Person } from '../support/client.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import { notificationsOf } from '../support/notifications.ts'

// Graphemes: people see each as one character, although it consists of several code points.
const signs: Record<string, string> = {
  'the flag of Kuwait': '\u{1F1F0}\u{1F1FC}',
  'the flag of Scotland': '\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}',
  'a rainbow flag': '\u{1F3F3}\uFE0F\u200D\u{1F308}',
  'a family': '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}',
  'a thumb of a colour': '\u{1F44D}\u{1F3FD}',
  'two hands of two colours': '\u{1FAF1}\u{1F3FB}\u200D\u{1FAF2}\u{1F3FF}',
  'a letter with harakat': '\u0645\u0651\u064E',
  'hamza that is combined': '\u0627\u0654\u064F',
  'a key': '5\uFE0F\u20E3',
  'a Latin letter with accents': 'e\u0302\u0301\u0323',
  'a syllable in Devanagari': '\u0915\u094D\u0937\u093F',
  'a syllable in Hangul': '\u1112\u1161\u11AB',
  'a syllable in Thai': '\u0E19\u0E33',
}

const segmenter = new Intl.Segmenter()
/** Returns the longest prefix of at most `most` code points that does not split a grapheme. */
function beginning(text: string, most: number): string {
  let whole = ''
  for (const { segment } of segmenter.segment(text)) {
    if ([...whole + segment].length > most) break
    whole += segment
  }
  return whole
}

const cut = async (texts: string[], most: number): Promise<string[]> =>
  (await database().query(
    'select private.beginning(text, $2) as cut from unnest($1::text[]) with ordinality as t (text, n) order by n',
    [texts, most],
  )).rows.map((row) => row.cut)

test.each(Object.entries(signs))('CHAT-22 a text is never cut within %s', async (_name, sign) => {
  const texts = Array.from({ length: 25 }, (_, shift) => 'ا'.repeat(80 + shift) + sign.repeat(15))
  expect(await cut(texts, 100)).toEqual(texts.map((text) => beginning(text, 100)))
  expect(await cut([`${'ا'.repeat(90)}${sign}`], 140)).toEqual([`${'ا'.repeat(90)}${sign}`])
})

test('CHAT-22 signs of all kinds, one after another, are kept or left out as a whole', async () => {
  const kinds = Object.values(signs)
  const texts = kinds.flatMap((first) =>
    kinds.flatMap((second) =>
      Array.from(
        { length: 12 },
        (_, shift) => `${'ب'.repeat(88 + shift)}${first}${second} ${second}${first}نهاية`,
      )
    )
  )
  expect(await cut(texts, 100)).toEqual(texts.map((text) => beginning(text, 100)))
})

test('CHAT-22 a text of nothing but marks and joiners is cut all the same', async () => {
  const texts = ['\u064E'.repeat(30), '\u200D', '\u{E0061}'].map((one) => `ا${one.repeat(300)}`)
  for (const one of await cut(texts, 100)) expect([...one]).toHaveLength(100)
  expect(await cut(['', 'قصير'], 100)).toEqual(['', 'قصير'])
  const late = `${'ا'.repeat(50)}${'\u064E'.repeat(90)}`
  expect([shortened(late, 100)]).toEqual(await cut([late], 100))
})

async function shown(a: Person, b: Person, id: string, text: string) {
  expect((await postMessage(a, id, text)).status).toBe(201)
  const [{ lastMessage }] = (await b.get('/conversations')).body.items
  const [{ bodyAr }] = await notificationsOf(b, 'message_new')
  await b.post(`/conversations/${id}/read`, {})
  return { preview: lastMessage.preview, body: bodyAr }
}

test.each(Object.entries(signs).slice(0, 8))(
  'CHAT-22 a list of conversations and a notification end with a whole sign: %s',
  async (_name, sign) => {
    const { a, b, conversationId } = await startConversation()
    for (const most of [100, 140]) {
      const text = 'س'.repeat(most - 1) + sign.repeat(12)
      const { preview, body } = await shown(a, b, conversationId, text)
      expect(preview).toBe(beginning(text.normalize('NFC'), 100))
      expect(body).toBe(beginning(text.normalize('NFC'), 140))
    }
  },
)
