// Renders the documentation site, which loads nothing from other hosts. Redoc renders the API reference.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { dirname, join as joinUrl } from 'node:path/posix'
import { root } from '../config/settings.ts'
import { readPage, type Section } from './sections.ts'

const renderer = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')

const guides = {
  'index.html': ['Getting started', 'docs/apps.md'],
  'supabase-js.html': ['supabase-js', 'docs/supabase-js.md'],
  'contract.html': ['Contract', 'docs/contract.md'],
  'errors.html': ['Errors', 'docs/errors.md'],
  'launch.html': ['Launch', 'docs/launch.md'],
  'deploy.html': ['Deploy', 'docs/deploy.md'],
  'admin.html': ['Admin', 'docs/admin.md'],
  'runbook.html': ['Runbook', 'docs/runbook.md'],
  'access.html': ['Access', 'docs/access.md'],
  'lost-access.html': ['Lost access', 'docs/lost-access.md'],
  'growth.html': ['Growth', 'docs/growth.md'],
  'scale.html': ['Scale', 'docs/scale.md'],
  'speed.html': ['Speed', 'docs/speed.md'],
  'settings.html': ['Settings', 'docs/settings.md'],
} as const

const namesIn = (folder: string) =>
  readdirSync(join(root, folder)).map((file) => basename(file, '.md'))

export const pages: Record<string, readonly [title: string, path: string]> = {
  ...guides,
  ...Object.fromEntries(
    namesIn('docs/contract').map((area) => [
      `contract-${area}.html`,
      [`Contract: ${area}`, `docs/contract/${area}.md`],
    ]),
  ),
  ...Object.fromEntries(
    namesIn('docs/apps').map((page) => [
      `apps-${page}.html`,
      [`Apps: ${page}`, `docs/apps/${page}.md`],
    ]),
  ),
}

const reference = 'reference.html'

const ownFile = (name: string) => readFileSync(new URL(`page/${name}`, import.meta.url), 'utf8')

export const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

/** Redoc would load its maker's logo from another host, and its search runs in a worker. */
const policy = "default-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src blob:"

const head = (title: string, more = '') =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="${policy}">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${ownFile('site.css')}${more}</style>`

function header(current: string, descriptions: string): string {
  const links = [
    ...Object.entries(guides).map(([file, [title]]) => [file, title] as const),
    [reference, 'API reference'] as const,
  ]
  const shown = links.map(([file, title]) =>
    `<a href="${file}"${file === current ? ' aria-current="page"' : ''}>${title}</a>`
  )
  return `<header><nav>${shown.join('\n')}
<a href="${descriptions}openapi.json">openapi.json</a>
<a href="${descriptions}asyncapi.json">asyncapi.json</a></nav>
<div role="search"><input type="search" placeholder="Search ( / )" aria-label="Search"
  autocomplete="off" spellcheck="false">
<ul class="results" aria-live="polite" hidden></ul></div></header>`
}

const lightOnly =
  ':root { color-scheme: light; --link: #0b6b57 } img[src*="cdn.redoc"] { display: none }'

const script = (descriptions: string) =>
  `<script src="site.js" data-descriptions="${descriptions}"></script>`

function contents(sections: Section[]): string {
  const items = sections.filter(({ depth }) => depth === 2 || depth === 3)
    .map(({ id, depth, title }) =>
      `<li${depth === 3 ? ' class="deep"' : ''}><a href="#${id}">${escaped(title)}</a>`
    )
  return items.length
    ? `<details class="contents" open><summary>On this page</summary>
<ul>${items.join('\n')}</ul></details>`
    : ''
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const linked = (html: string, from: string) =>
  html.replace(/(?<=href=")[^":#]+\.md/g, (link) => {
    const path = joinUrl(dirname(from), link)
    return Object.keys(pages).find((name) => pages[name]![1] === path) ?? link
  })

const searchIndex = () =>
  Object.entries(pages).flatMap(([file, [page, path]]) =>
    readPage(textOf(path)).sections.map(({ id, title, blocks }) => ({
      file,
      page,
      id,
      title,
      blocks,
    }))
  )

/** Returns a file of the site. `descriptions` is the path to openapi.json; empty means beside the pages. */
export function siteFile(name: string, descriptions = ''): string | undefined {
  if (name === 'redoc.js') return readFileSync(renderer, 'utf8')
  if (name === 'site.js') return ownFile(name)
  if (name === 'search-index.js') return `searchIndex = ${JSON.stringify(searchIndex())}\n`
  if (name === reference) {
    return `${head('API reference', lightOnly)}
${header(reference, descriptions)}
<redoc spec-url="${descriptions}openapi.json" hide-download-buttons="true" native-scrollbars="true"
  required-props-first="true" json-sample-expand-level="2" schema-expansion-level="0"></redoc>
<script src="redoc.js"></script>
${script(descriptions)}`
  }
  if (!Object.hasOwn(pages, name)) return undefined
  const [title, path] = pages[name]!
  const { html, sections } = readPage(textOf(path))
  return `${head(title)}
${header(name, descriptions)}
<div class="page">${contents(sections)}
<main>${linked(html, path)}</main></div>
${script(descriptions)}`
}

export const siteFiles = [
  ...Object.keys(pages),
  reference,
  'redoc.js',
  'site.js',
  'search-index.js',
]
