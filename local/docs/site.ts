// Renders the documentation site, which loads nothing from other hosts.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { dirname, join as joinUrl } from 'node:path/posix'
import { root } from '../config/settings.ts'
import { type Api, operationsOf, reference, referenceFiles, referencePage } from './reference.ts'
import { escaped, readPage, type Section } from './sections.ts'

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

const ownFile = (name: string) => readFileSync(new URL(`page/${name}`, import.meta.url), 'utf8')

export const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

const policy = "default-src 'self' 'unsafe-inline'; img-src 'self' data:"

const head = (title: string) =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="${policy}">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${ownFile('site.css')}</style>`

function header(current: string, descriptions: string): string {
  const links = [
    ...Object.entries(guides).map(([file, [title]]) => [file, title] as const),
    [reference, 'API reference'] as const,
  ]
  const shown = links.map(([file, title]) => {
    const isInside = file === reference && current.startsWith('reference-')
    const mark = file === current ? 'page' : isInside && 'true'
    return `<a href="${file}"${mark ? ` aria-current="${mark}"` : ''}>${title}</a>`
  })
  return `<header><nav aria-label="Pages">${shown.join('\n')}
<a href="${descriptions}openapi.json">openapi.json</a>
<a href="${descriptions}asyncapi.json">asyncapi.json</a></nav>
<div role="search"><input type="search" placeholder="Search ( / )" aria-label="Search"
  autocomplete="off" spellcheck="false">
<ul class="results" aria-live="polite" hidden></ul></div></header>`
}

function contents(sections: Section[]): string {
  const items = sections.filter(({ depth }) => depth === 2 || depth === 3)
    .map(({ id, depth, title }) =>
      `<li${depth === 3 ? ' class="deep"' : ''}><a href="#${id}">${escaped(title)}</a>`
    )
  return items.length
    ? `<nav class="contents" aria-label="On this page"><details open><summary>On this page</summary>
<ul>${items.join('\n')}</ul></details></nav>`
    : ''
}

const linked = (html: string, from: string) =>
  html.replace(/(?<=href=")[^":#]+\.md/g, (link) => {
    const path = joinUrl(dirname(from), link)
    return Object.keys(pages).find((name) => pages[name]![1] === path) ?? link
  })

const searchIndex = (api: Api) => [
  ...Object.entries(pages).flatMap(([file, [page, path]]) =>
    readPage(textOf(path)).sections.map(({ id, title, blocks }) => ({
      link: `${file}#${id}`,
      page,
      title,
      blocks,
    }))
  ),
  ...operationsOf(api).map(({ link, area, title, operation: { summary, description } }) => ({
    link,
    page: `API reference: ${area}`,
    title,
    blocks: [`${summary}. ${description}`],
  })),
]

/** Returns a file of the site. `descriptions` is the path to openapi.json; empty means beside the pages. */
export function siteFile(name: string, api: Api, descriptions = ''): string | undefined {
  if (name === 'site.js') return ownFile(name)
  if (name === 'search-index.js') return `searchIndex = ${JSON.stringify(searchIndex(api))}\n`
  const [title, text, path = ''] = pageOf(name, api)
  if (!text) return undefined
  const { html, sections } = readPage(text)
  return `${head(title!)}
${header(name, descriptions)}
<div class="page">${contents(sections)}
<main>${linked(html, path)}</main></div>
<script src="site.js"></script>`
}

/** Returns a page's title, its Markdown, and its path if it is a file; empty if there is no such page. */
export function pageOf(name: string, api: Api): [title?: string, text?: string, path?: string] {
  if (!Object.hasOwn(pages, name)) return referencePage(name, api) ?? []
  const [title, path] = pages[name]!
  return [title, textOf(path), path]
}

export const siteFiles = (api: Api) => [
  ...Object.keys(pages),
  ...referenceFiles(api),
  'site.js',
  'search-index.js',
]
