// All values become SQL literals in one place, and Postgres returns exactly the value that was sent.
import { randomInt, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { literal } from '../../functions/_shared/database/literals.ts'
import { database } from '../support/client.ts'

const ranges: [number, number][] = [
  [0x01, 0x1f],
  [0x20, 0x7e],
  [0x7f, 0xff],
  [0x600, 0x6ff],
  [0x2000, 0x206f],
  [0xe000, 0xffff],
  [0x1f300, 0x1faff],
  [0x10fff0, 0x10ffff],
]

const character = () => {
  const [first, last] = ranges[randomInt(ranges.length)]!
  return String.fromCodePoint(randomInt(first, last + 1))
}

const randomText = () => Array.from({ length: randomInt(40) }, character).join('')

const hostile = [
  '',
  ' ',
  `'`,
  `''`,
  `\\'`,
  `\\`,
  `\\\\`,
  `'; drop table accounts; --`,
  `' or '1'='1`,
  `$$`,
  `$tag$'$tag$`,
  `E'\\x41'`,
  `U&'\\0041'`,
  `U&"d\\0061t\\+000061"`,
  `\\+000041`,
  '--',
  '/* */',
  '{}',
  '{a,b}',
  '{"a"}',
  'null',
  'NULL',
  '\r\n\t\b\f\v',
  '\u0001\u001b\u007f\u0085\u00a0',
  '\u200b\u200e\u202e\u2028\ufeff',
  '\ufffd\uffff',
  'الكويت ١٢٣ ًٌٍ',
  '👩‍👩‍👧‍👦🇰🇼',
  randomUUID(),
  randomUUID().toUpperCase(),
  `${randomUUID()}'`,
]

async function sent<T>(text: string): Promise<T> {
  const { rows } = await database().query(`select ${text} as value`)
  return rows[0].value
}

/** A text literal contains only escaped character codes or a UUID, so its content cannot end it. */
const harmless = /^(U&'(\\[0-9a-f]{4})*'|'[0-9a-fA-F-]{36}')::text$/

describe('a text', () => {
  test('is a literal in which nothing can end it', () => {
    for (const text of [...hostile, ...Array.from({ length: 500 }, randomText)]) {
      expect(literal(text, 'text')).toMatch(harmless)
    }
  })

  test('comes back as it was, whatever is in it', async () => {
    const texts = [...hostile, ...Array.from({ length: 500 }, randomText)]
    const list = texts.map((text) => literal(text, 'text')).join(',')
    expect(await sent(`array[${list}]`)).toEqual(texts)
  })

  test('with NUL is refused: Postgres cannot hold it', () => {
    for (const text of ['\0', 'a\0b', `'\0`]) {
      expect(() => literal(text, 'text')).toThrow('validation_failed')
      expect(() => literal([text], 'text[]')).toThrow('validation_failed')
    }
  })

  test('with half a character gets the sign for one that is unknown', async () => {
    for (const half of ['\ud83d', '\ude00', 'a\ud83db', '\ude00\ud83d']) {
      expect(await sent(literal(half, 'text'))).toBe(half.toWellFormed())
    }
  })
})

describe('a list', () => {
  test('comes back with every element as it was', async () => {
    const lists = [[], hostile, [''], [null, 'null', null], Array.from({ length: 200 }, randomText)]
    for (const list of lists) expect(await sent(literal(list, 'text[]'))).toEqual(list)
  })

  test('of numbers or ids has its type', async () => {
    const ids = [randomUUID(), randomUUID()]
    expect(await sent(literal(ids, 'uuid[]'))).toEqual(`{${ids.join()}}`.slice(1, -1).split(','))
    expect(await sent(literal([1, -2, 3], 'integer[]'))).toEqual([1, -2, 3])
  })
})

describe('JSON', () => {
  test('comes back as it was, in keys and values', async () => {
    const value = {
      texts: hostile,
      random: Array.from({ length: 100 }, randomText),
      nested: { "it's": { '"': [true, false, null, 0, -1.5, 1e21, []] } },
      ...Object.fromEntries(hostile.map((text) => [`key ${text}`, text])),
    }
    for (const type of ['jsonb', 'json']) expect(await sent(literal(value, type))).toEqual(value)
  })

  test('of a bare value is that value', async () => {
    for (const value of [null, true, 7, "'", []]) {
      expect(await sent(literal(value, 'jsonb'))).toEqual(value)
    }
  })

  test('with NUL or half a character is refused by Postgres', async () => {
    for (const text of ['\0', '\ud83d', '\ude00']) {
      await expect(sent(literal({ text }, 'jsonb'))).rejects.toMatchObject({
        code: expect.stringMatching(/^22P0/),
      })
    }
  })
})

test('numbers, booleans, times and null have their types', async () => {
  expect(await sent(literal(2147483647, 'integer'))).toBe(2147483647)
  expect(await sent(`${literal(12.345, 'numeric')}::text`)).toBe('12.345')
  expect(await sent(literal(false, 'boolean'))).toBe(false)
  expect(await sent(literal(null, 'text'))).toBe(null)
  const time = '2026-11-22 10:00:00.123456+00'
  expect(await sent(`${literal(time, 'timestamptz')} = timestamptz '${time}'`)).toBe(true)
})

test('what is no number or id is an error of its type and never SQL', async () => {
  for (const [text, type] of [['1; select 1', 'integer'], [`x'`, 'uuid'], ['yes; no', 'boolean']]) {
    await expect(sent(literal(text, type!))).rejects.toMatchObject({ code: '22P02' })
  }
})
