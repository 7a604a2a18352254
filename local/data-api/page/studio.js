// The database filters, sorts and paginates the rows. All changed columns of a row are saved in one request.
const pageSize = 100
const element = (id) => document.getElementById(id)

/** A filter is [column, operator, value]; `from` is the offset of the first row. */
let shown = { table: undefined, filters: [], order: undefined, from: 0 }
let tables = []

const comparisons = {
  eq: 'equals',
  neq: 'is not',
  ilike: 'contains',
  gt: 'more than',
  gte: 'at least',
  lt: 'less than',
  lte: 'at most',
  is: 'is (null, true, false)',
}
const isText = ({ type }) => /^(text|character|varchar|name|citext)/i.test(type)
const isJson = ({ type }) => /^jsonb?$/i.test(type)

async function ask(method, table, query, body) {
  const profile = method === 'GET' ? 'accept-profile' : 'content-profile'
  const answer = await fetch(`/rest/v1/${encodeURIComponent(table.name)}?${query}`, {
    method,
    headers: {
      [profile]: table.schema,
      'content-type': 'application/json',
      prefer: 'return=representation',
    },
    body: body && JSON.stringify(body),
  })
  const given = await answer.json().catch(() => undefined)
  if (answer.ok) return given
  throw new Error([given?.message, given?.details, given?.hint].filter(Boolean).join('\n'))
}

const keyOf = (table, row) =>
  new URLSearchParams(table.key.map((name) => [name, `eq.${textOf(row[name])}`]))

const textOf = (value) => typeof value === 'object' ? JSON.stringify(value) : String(value)

function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

let latest = 0

async function showRows() {
  const { table, filters, order, from } = shown
  const nth = ++latest
  element('error').textContent = ''
  const query = new URLSearchParams({ select: '*', limit: pageSize, offset: from })
  const orders = [order, ...table.key.map((name) => `${name}.asc`)].filter(Boolean)
  if (orders.length) query.set('order', orders.join(','))
  for (const [column, operator, value] of filters) {
    query.append(column, `${operator}.${operator === 'ilike' ? `*${value}*` : value}`)
  }
  try {
    const rows = await ask('GET', table, query)
    if (nth !== latest) return // the page shows something else now
    element('grid').replaceChildren(gridOf(table, rows))
    element('from').value = from + 1
    element('range').textContent = rows.length ? `to ${from + rows.length}` : 'there are none'
    element('back').disabled = from === 0
    element('next').disabled = rows.length < pageSize
  } catch (error) {
    if (nth !== latest) return
    element('grid').replaceChildren()
    element('error').textContent = error.message
  }
}

function gridOf(table, rows) {
  const heads = table.columns.map(({ name, comment = '' }) => {
    const [sorted, direction] = shown.order?.split('.') ?? []
    const arrow = sorted !== name ? '' : direction === 'asc' ? ' ↑' : ' ↓'
    const sort = () => {
      shown.order = `${name}.${arrow === ' ↑' ? 'desc' : 'asc'}`
      shown.from = 0
      showRows()
    }
    return make('th', { title: comment, onclick: sort }, name + arrow)
  })
  const lines = rows.map((row) => {
    const edit = () => openEditor(table, row)
    const cells = table.columns.map(({ name }) =>
      row[name] === null
        ? make('td', { className: 'null' }, 'null')
        : make('td', { dir: 'auto' }, textOf(row[name]).slice(0, 200))
    )
    const onkeydown = ({ key }) => key === 'Enter' && edit()
    return make('tr', { onclick: edit, onkeydown, tabIndex: 0 }, ...cells)
  })
  const head = make('thead', {}, make('tr', {}, ...heads))
  return make('table', {}, head, make('tbody', {}, ...lines))
}

// If the referenced table has more rows than this, the user types the value instead of choosing it.
const mostChoices = 100

/** Returns the possible values of a foreign key as [value, label], or undefined if they are not listed. */
async function choicesOf({ rows }) {
  if (!rows) return undefined
  const query = new URLSearchParams({ select: '*', limit: mostChoices + 1, order: rows.column })
  const found = await ask('GET', rows, query).catch(() => [])
  if (!found.length || found.length > mostChoices) return undefined
  return found.map((row) => {
    const texts = Object.entries(row).filter(([name, value]) =>
      name !== rows.column && typeof value === 'string'
    )
    return [row[rows.column], texts.map(([, text]) => text).join(' · ')]
  })
}

function inputFor(text, choices, editable) {
  if (!choices || !editable) {
    const input = make('textarea', { value: text, dir: 'auto', readOnly: !editable })
    input.rows = Math.min(8, Math.ceil((text.length + 1) / 70))
    return input
  }
  const options = [['', ''], ...choices].map(([value, says]) =>
    make('option', { value, title: says }, says ? `${value}: ${says}`.slice(0, 160) : value)
  )
  const input = make('select', {}, ...options)
  input.value = text
  return input
}

/** Opens the editor for a row, or for a new row if none is given. A null field stays null until edited. */
async function openEditor(table, row) {
  const columns = table.columns.filter(({ generated }) => !generated)
  const editable = !row || table.key.length > 0
  const choices = await Promise.all(columns.map(choicesOf))
  if (shown.table !== table) return
  const inputs = columns.map((column, index) => {
    const value = row?.[column.name] ?? null
    const isParsed = isJson(column) || Array.isArray(value)
    const text = value === null ? '' : isParsed ? JSON.stringify(value) : textOf(value)
    const isNull = make('input', { type: 'checkbox', checked: value === null, disabled: !editable })
    const input = inputFor(text, choices[index], editable)
    // Choosing the empty option sets null.
    input.oninput = () => isNull.checked = input.tagName === 'SELECT' && input.value === ''
    const note = row ? 'null' : 'left to the database'
    const label = make('label', { title: column.comment ?? '' }, `${column.name} `)
    label.append(make('small', {}, `${column.type} `), isNull, make('small', {}, ` ${note}`), input)
    return { column, input, isNull, isParsed, label, before: value === null ? null : text }
  })
  element('editing').textContent = `${row ? 'Row of' : 'New row of'} ${table.name}`
  element('fields').replaceChildren(...inputs.map(({ label }) => label))
  element('refused').textContent = ''
  element('about').textContent = `${editable ? '' : 'A view: nothing is changed here. '}${
    row && editable ? '' : table.comment ?? ''
  }`
  element('save').hidden = !editable
  element('remove').hidden = !row || !editable
  element('save').onclick = () =>
    write(async () => {
      const changed = inputs
        .map((field) => ({ ...field, after: field.isNull.checked ? null : field.input.value }))
        .filter(({ before, after }) => before !== after)
      if (!changed.length) return
      const values = Object.fromEntries(changed.map(({ column, isParsed, after }) => {
        return [column.name, after !== null && isParsed ? JSON.parse(after) : after]
      }))
      if (row) await ask('PATCH', table, keyOf(table, row), values)
      else await ask('POST', table, '', values)
    })
  element('remove').onclick = () =>
    confirm('Delete this row?') && write(() => ask('DELETE', table, keyOf(table, row)))
  element('editor').showModal()
}

async function write(change) {
  try {
    await change()
    element('editor').close()
    await showRows()
  } catch (error) {
    element('refused').textContent = error.message || 'It was not written.'
  }
}

function showFilters() {
  element('filters').replaceChildren(...shown.filters.map((filter, index) => {
    const [column, operator, value] = filter
    const onclick = () => {
      shown.filters = shown.filters.filter((_, other) => other !== index)
      refilter()
    }
    const text = `${column} ${comparisons[operator]} ${value} ×`
    return make('button', { type: 'button', title: 'Remove', onclick }, text)
  }))
}

function refilter() {
  shown.from = 0
  showFilters()
  showRows()
}

/** Offers "contains" for text columns only. */
function showComparisons() {
  const column = shown.table.columns.find(({ name }) => name === element('column').value)
  const usable = Object.entries(comparisons).filter(([code]) => code !== 'ilike' || isText(column))
  element('operator').replaceChildren(
    ...usable.map(([value, text]) => make('option', { value }, text)),
  )
}

function openTable() {
  const name = decodeURIComponent(location.hash.slice(1))
  const table = tables.find((one) => `${one.schema}.${one.name}` === name)
  listTables()
  if (!table) return
  shown = { table, filters: [], order: undefined, from: 0 }
  element('grid').replaceChildren()
  element('value').value = ''
  element('name').textContent = name
  element('comment').textContent = table.comment ?? ''
  element('filter').hidden = element('pages').hidden = false
  element('add').hidden = table.key.length === 0
  element('column').replaceChildren(
    ...table.columns.map(({ name }) => make('option', { value: name }, name)),
  )
  showComparisons()
  showFilters()
  showRows()
}

const groups = ['administration', 'public', 'private']
const groupOf = ({ schema, name }) => name.startsWith('admin_') ? groups[0] : schema
function positionOf(table) {
  const index = groups.indexOf(groupOf(table))
  return index < 0 ? groups.length : index
}

function listTables() {
  const part = element('find').value.toLowerCase()
  const open = decodeURIComponent(location.hash.slice(1))
  const found = tables.filter(({ name }) => name.includes(part))
  const listed = [...new Set(found.map(groupOf))]
  element('tables').replaceChildren(...listed.flatMap((group) => [
    make('h3', {}, group),
    ...found.filter((table) => groupOf(table) === group).map(({ schema, name, comment = '' }) => {
      const link = make('a', { href: `#${schema}.${name}`, title: comment }, name)
      if (open === `${schema}.${name}`) link.setAttribute('aria-current', 'page')
      return link
    }),
  ]))
}

element('find').oninput = listTables
element('column').onchange = showComparisons
element('add').onclick = () => openEditor(shown.table)
element('filter').onsubmit = (event) => {
  event.preventDefault()
  const given = ['column', 'operator', 'value'].map((id) => element(id).value)
  shown.filters = [...shown.filters, given]
  refilter()
}
const go = (from) => {
  shown.from = Math.max(0, from)
  showRows()
}
element('back').onclick = () => go(shown.from - pageSize)
element('next').onclick = () => go(shown.from + pageSize)
element('from').onchange = ({ target }) => go(Number(target.value) - 1)
element('pages').onsubmit = (event) => event.preventDefault()
addEventListener('hashchange', openTable)

tables = await (await fetch('/tables')).json()
tables.sort((a, b) =>
  positionOf(a) - positionOf(b) || a.schema.localeCompare(b.schema) || a.name.localeCompare(b.name)
)
openTable()
