import { marked, type Token, type Tokens } from 'marked'

export type Section = { id: string; depth: number; title: string; blocks: string[] }

/** Returns the id that GitHub gives a heading, so that links work both there and on the site. */
export const idOf = (title: string) =>
  title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replaceAll(' ', '-')

const plain = (text: string) =>
  text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\*\*|`|\\(?=[|*])/g, '').replace(
    /\s+/g,
    ' ',
  )

/** Returns the searchable texts of a token: paragraphs, list items, lines of code, or rows of a table. */
function blocksOf(token: Token): string[] {
  const { type } = token
  if (type === 'table') {
    return (token as Tokens.Table).rows.map((row) =>
      row.map(({ text }) => plain(text)).filter(Boolean).join('\n')
    )
  }
  if (type === 'list') return (token as Tokens.List).items.map(({ text }) => plain(text))
  if (type === 'code') return (token as Tokens.Code).text.split('\n').filter(Boolean)
  return type === 'paragraph' || type === 'blockquote' ? [plain(token.raw)] : []
}

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** Attributes that let people reach and scroll a wide element by keyboard. */
const scrolls = (name: string) => `tabindex="0" role="group" aria-label="${escaped(name)}"`

marked.use({
  renderer: {
    code: ({ text, lang }) =>
      `<pre ${scrolls(lang ? `Code: ${lang}` : 'Code')}><code>${escaped(text)}\n</code></pre>\n`,
    /** Each cell repeats its column's name, because narrow screens do not show the header. */
    table({ header, rows }) {
      const names = header.map(({ text }) => plain(text))
      const cell = ({ text, tokens }: Tokens.TableCell, i: number) => {
        const inner = text && `<bdi>${this.parser.parseInline(tokens)}</bdi>`
        return `<td data-label="${escaped(names[i]!)}">${inner}</td>`
      }
      const head = header.map(({ text, tokens }) =>
        text ? `<th>${this.parser.parseInline(tokens)}</th>` : '<td></td>'
      )
      const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`)
      return `<div class="table" ${scrolls(`Table: ${names.filter(Boolean).join(', ')}`)}><table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>
`
    },
  },
})

export function readPage(markdown: string): { html: string; sections: Section[] } {
  const sections: Section[] = []
  const html = marked.lexer(markdown).map((token) => {
    if (token.type !== 'heading') {
      sections.at(-1)?.blocks.push(...blocksOf(token))
      return marked.parser([token])
    }
    const { depth, text, tokens = [] } = token as Tokens.Heading
    const id = idOf(plain(text))
    sections.push({ id, depth, title: plain(text), blocks: [] })
    const inner = marked.Parser.parseInline(tokens)
    return depth === 1
      ? `<h1 id="${id}">${inner}</h1>\n`
      : `<h${depth} id="${id}"><a href="#${id}">${inner}</a></h${depth}>\n`
  })
  return { html: html.join(''), sections }
}
