// What Lite's Studio leaves out and admins need: views among the tables, and the comments.
// Hosted Studio shows both by itself.

type Named = { schema: string; name: string }
type Comment = { schema: string; table: string; column?: string; text: string }
type Introspected = { tables: (Named & { type: string })[]; views: Named[]; comments: Comment[] }

/** The catalogue as the page asks for it: views come first where it looks for tables. */
export function withViews(found: Introspected): Introspected {
  const views = found.views
    .filter(({ schema }) => schema !== 'extensions')
    .map((view) => ({ rows: 0, engine: '', collation: '', ...view, sql: '', type: 'table' }))
  return { ...found, tables: [...views, ...found.tables] }
}

export const notesPath = '/studio-notes.js'

/** The page with the script below. */
export const withNotes = (html: string) =>
  html.replace('</head>', `<script defer src="${notesPath}"></script></head>`)

/**
 * Runs in the page: shows the comment of the open table on top, and that of a table or column when
 * the mouse rests on its name.
 */
export const notesScript = `
const notes = new Map()
const bar = document.createElement('div')
bar.style = 'position:fixed;top:0;left:290px;right:330px;height:46px;display:flex;' +
  'align-items:center;z-index:50;font-size:12px;line-height:15px;color:#a0a0a0;overflow:hidden'

function show() {
  const open = decodeURIComponent(location.pathname).replace('/editor/', '')
  const text = notes.get(open) ?? ''
  if (bar.textContent !== text) bar.textContent = text
  if (!bar.isConnected) document.body.append(bar)
  for (const link of document.querySelectorAll('a[href^="/editor/"]')) {
    explain(link, decodeURIComponent(link.getAttribute('href')).replace('/editor/', ''))
  }
  for (const name of document.querySelectorAll('[role=columnheader] span.text-foreground')) {
    explain(name, open + '.' + name.textContent)
  }
}

function explain(element, key) {
  const note = notes.get(key)
  if (note && element.title !== note) element.title = note
}

fetch('/_system/introspect').then((answer) => answer.json()).then(({ comments }) => {
  for (const { schema, table, column, text } of comments) {
    notes.set([schema, table, column].filter(Boolean).join('.'), text)
  }
  new MutationObserver(show).observe(document.body, { childList: true, subtree: true })
  show()
})
`
