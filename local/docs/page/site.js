'use strict'

const element = (name, attributes, ...children) => {
  const made = Object.assign(document.createElement(name), attributes)
  made.append(...children)
  return made
}

for (const block of document.querySelectorAll('main pre')) {
  const button = element('button', { type: 'button', textContent: 'Copy' })
  block.replaceWith(element('div', { className: 'code' }, block.cloneNode(true), button))
  button.addEventListener('click', async () => {
    button.textContent = await copy(block.textContent) ? 'Copied' : 'Not copied'
    setTimeout(() => (button.textContent = 'Copy'), 2000)
  })
}

/** Copies text. Browsers have navigator.clipboard on secure pages only. */
async function copy(text) {
  if (navigator.clipboard) {
    return await navigator.clipboard.writeText(text).then(() => true, () => false)
  }
  const field = element('textarea', { value: text })
  document.body.append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  return copied
}

const contents = document.querySelector('.contents details')
const isWide = matchMedia('(min-width: 68rem)')
if (contents) {
  const follow = () => (contents.open = isWide.matches)
  isWide.addEventListener('change', follow)
  follow()
  contents.addEventListener('click', ({ target }) => {
    if (target.closest('a')) follow()
  })
}

const most = 30
const field = document.querySelector('input[type=search]')
const results = document.querySelector('.results')
let index

/** Loads the search index: the sections of all pages, and the API's operations. */
const loadIndex = () =>
  index ??= new Promise((onload, onerror) =>
    document.head.append(element('script', { src: 'search-index.js', onload, onerror }))
  ).then(() =>
    globalThis.searchIndex.map((section) => ({
      ...section,
      seen: [section.title, ...section.blocks].map(plain),
    }))
  )

const alike = { أ: 'ا', إ: 'ا', آ: 'ا', ى: 'ي', ة: 'ه', ؤ: 'و', ئ: 'ي' }

/** Normalizes text for comparison; every character keeps its position. */
const plain = (text) => text.toLowerCase().replace(/[أإآىةؤئ]/g, (letter) => alike[letter])

/** Returns the sections that contain all words: first in the title, then in one block, then anywhere. */
function found(sections, words) {
  const has = (text) => words.every((word) => text.includes(word))
  const rank = ({ seen: [title, ...blocks] }) =>
    has(title) ? 0 : blocks.some(has) ? 1 : has([title, ...blocks].join('\n')) ? 2 : 3
  return sections.map((section) => ({ section, rank: rank(section) }))
    .filter(({ rank }) => rank < 3)
    .sort((one, other) => one.rank - other.rank)
    .slice(0, most)
    .map(({ section }) => section)
}

function excerpt({ blocks, seen: [, ...plains] }, words) {
  const count = (text) => words.filter((word) => text.includes(word)).length
  const best = plains.reduce((at, text, i) => count(text) > count(plains[at] ?? '') ? i : at, 0)
  const [block = '', text = ''] = [blocks[best], plains[best]]
  const word = words.find((each) => text.includes(each))
  if (!word) return { line: [block.slice(0, 160)], phrase: '' }
  const at = text.indexOf(word)
  const from = at > 60 ? block.indexOf(' ', at - 60) + 1 : 0
  const line = block.slice(Math.min(from, at), at + 140).split(/\n/).join(' · ')
  const end = at + word.length
  // The phrase is extended to whole words, because text fragments do not match parts of words.
  const [before] = /[\p{L}\p{N}_]*$/u.exec(block.slice(0, at))
  const [after] = /^[\p{L}\p{N}_]*/u.exec(block.slice(end))
  return { line: marked(line, words), phrase: before + block.slice(at, end) + after }
}

function marked(text, words) {
  const parts = []
  let rest = text
  for (;;) {
    const hits = words.map((word) => [plain(rest).indexOf(word), word.length]).filter(([at]) =>
      at >= 0
    )
    if (!hits.length) return [...parts, rest]
    const [at, length] = hits.sort(([one], [other]) => one - other)[0]
    parts.push(rest.slice(0, at), element('mark', {}, rest.slice(at, at + length)))
    rest = rest.slice(at + length)
  }
}

function resultOf(section, words) {
  const { line, phrase } = excerpt(section, words)
  // The link leads to the exact words if the browser supports text fragments, otherwise to the heading.
  // On pages of the reference the same words occur in many operations.
  const text = phrase && !section.link.startsWith('reference')
    ? `:~:text=${encodeURIComponent(phrase).replaceAll('-', '%2D')}`
    : ''
  const link = element('a', { href: section.link + text })
  link.append(element('b', {}, ...marked(section.title, words)), ` ${section.page}`)
  link.append(element('small', {}, ...line))
  return element('li', {}, link)
}

async function show() {
  const words = plain(field.value).split(/\s+/).filter(Boolean)
  const query = field.value
  const sections = words.length ? found(await loadIndex(), words) : []
  if (field.value !== query) return
  results.hidden = !words.length
  results.replaceChildren(...sections.map((section) => resultOf(section, words)))
  if (words.length && !sections.length) {
    results.append(element('li', {}, 'Nothing has all these words.'))
  }
}

field.addEventListener('focus', () => void loadIndex())
field.addEventListener('input', () => void show())
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') results.hidden = true
  const types = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
  if (event.key === '/' && !types && !event.ctrlKey && !event.metaKey) {
    event.preventDefault()
    field.focus()
  }
})
document.addEventListener('click', ({ target }) => {
  if (target === field) void show()
  else results.hidden = !results.contains(target) || target.closest('a') !== null
})
