// Finds the shapes of objects that a page shows, such as `{id, name?, state:"open"|"paid", …}`. They are in
// inline code, in JSON blocks, and in blocks without a language that list fields.

export type Field = {
  /** There are several if the page shows alternatives, such as `{phone | email}`. */
  names: string[]
  optional: boolean
  /** The values that the page shows for the field, as parsed JSON. */
  values: unknown[]
  inside?: Shape
}
export type Shape = {
  fields: Field[]
  /** Whether the shape contains an …, which stands for more fields. */
  open: boolean
}
export type Shown = {
  line: number
  text: string
  shape: Shape
  /** The word before the shape: a field, an event, an error, a route or the last part of a route. */
  word: string
  /** Whether that word is in the same code span as the shape. */
  isNamed: boolean
  /** The paragraph, table row or list item up to the shape. For a block, also the text before the block. */
  context: string
}

const field = /^"?([A-Za-z]\w*)"?(\??)((?: ?\| ?[A-Za-z]\w*)*)(?=$|[\s:[|])(.*)$/s
const words = /^:?\s*\[?([A-Za-z]\w*(?: ?\| ?[A-Za-z]\w*)+)/

/** Reads the shape that begins at this brace. It is undefined if the braces contain something else. */
export function readShape(text: string, from: number): { shape?: Shape; end: number } {
  const shape: Shape = { fields: [], open: false }
  let isShape = true
  let [entry, depth] = ['', 0]
  let inside: Shape | undefined
  const finish = () => {
    const [said, sub] = [entry.trim(), inside]
    ;[entry, inside] = ['', undefined]
    if (!said) return
    if (/^…|^\w+…$/.test(said)) return void (shape.open = true)
    const [, name, mark, others, rest] = field.exec(said) ?? []
    if (!name || /^\s*=/.test(rest!)) return void (isShape = false)
    const names = [name, ...others!.split('|').map((one) => one.trim())]
      .filter((one) => one && one !== 'null')
    shape.fields.push({ names, optional: mark === '?', values: valuesIn(rest!), inside: sub })
  }
  for (let i = from + 1; i < text.length; i++) {
    const sign = text[i]!
    if (sign === '"') {
      const end = text.indexOf('"', i + 1)
      if (end < 0) break
      entry += text.slice(i, end + 1)
      i = end
    } else if (sign === '(') {
      // Text in parentheses is a remark, which is skipped.
      i = endOf(text, i)
      entry += ' '
    } else if (sign === '{') {
      const found = readShape(text, i)
      isShape &&= found.shape !== undefined
      inside = found.shape
      i = found.end
    } else if (sign === '}') {
      finish()
      return { shape: isShape ? shape : undefined, end: i }
    } else if (sign === ',' && depth === 0) {
      finish()
    } else {
      depth += sign === '[' ? 1 : sign === ']' ? -1 : 0
      entry += sign
    }
  }
  return { end: text.length }
}

function endOf(text: string, from: number): number {
  let depth = 0
  for (let i = from; i < text.length; i++) {
    depth += text[i] === '(' ? 1 : text[i] === ')' ? -1 : 0
    if (depth === 0) return i
  }
  return text.length
}

function valuesIn(rest: string): unknown[] {
  const quoted = [...rest.matchAll(/"([^"]*)"/g)].map(([, text]) => text)
  if (quoted.length) return quoted
  const [, listed] = words.exec(rest) ?? []
  if (listed) return listed.split('|').map((one) => one.trim())
  const [, literal] = /^:\s*(true|false|null|-?\d+(?:\.\d+)?)\b/.exec(rest) ?? []
  return literal ? [JSON.parse(literal)] : []
}

type Unit = { text: string; line: number; block?: string }

/** Splits a page into paragraphs, list items, table rows and code blocks. */
function unitsOf(page: string): Unit[] {
  const units: Unit[] = []
  let open: Unit | undefined
  page.split('\n').forEach((line, at) => {
    const [, language] = /^```(.*)/.exec(line) ?? []
    if (open?.block !== undefined) {
      if (language === undefined) open.text += `${line}\n`
      else open = undefined
    } else if (language !== undefined) {
      units.push(open = { text: '', line: at + 2, block: language })
    } else if (!line.trim()) {
      open = undefined
    } else if (!open || /^\||^\s*(?:[-*]|\d+\.) |^#/.test(line)) {
      units.push(open = { text: line, line: at + 1 })
    } else open.text += ` ${line.trim()}`
  })
  return units
}

/** Matches the text of a block that only lists fields, such as `id, name, owner {id, name}`. */
const fieldsOnly = /^[a-z]\w*(?: ?[[{][^;=$]*?)?,[^;=$]*$/

export function shapesIn(page: string): Shown[] {
  const units = unitsOf(page)
  return units.flatMap(({ text, line, block }, at) => {
    if (block === undefined) {
      return [...text.matchAll(/`([^`]+)`/g)].flatMap((code) =>
        shapesOf(code[1]!.replaceAll('\\|', '|'), text.slice(0, code.index), line)
      )
    }
    const before = units[at - 1]?.text ?? ''
    if (block === 'json' || block === '' && text.startsWith('{')) {
      return shapesOf(text, before, line)
    }
    return block === '' && fieldsOnly.test(text.trim()) ? shapesOf(`{${text}}`, before, line) : []
  })
}

function shapesOf(code: string, before: string, line: number): Shown[] {
  const found: Shown[] = []
  for (let i = code.indexOf('{'); i >= 0; i = code.indexOf('{', i + 1)) {
    const said = code.slice(0, i)
    // Braces in a URL, in a template literal or in a function call are not a shape.
    if (/[/=$]$|\([^)]*$/.test(said) || /=>/.test(code)) continue
    const { shape, end } = readShape(code, i)
    const text = code.slice(i, end + 1)
    i = end
    // With spaces inside the braces it is an object in program code, such as `{ path, query }`.
    if (!shape?.fields.length || /^\{ [^"]/.test(text)) continue
    const context = `${before}\`${said}`
    const [word = ''] = /[\w/:{}-]*$/.exec(context.replace(/[`\s:[?]+$/, '')) ?? []
    found.push({ line, text, shape, word, isNamed: /\w/.test(said), context })
  }
  return found
}
