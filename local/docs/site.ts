// The documentation as a static site: the guide, the reference of the API, and how to deploy. It loads
// nothing from elsewhere; Redoc draws the reference.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { dirname, join as joinUrl } from 'node:path/posix'
import { marked } from 'marked'
import { root } from '../stack/settings.ts'

const renderer = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')

/** The pages that all others lead to. */
const guides = {
  'index.html': ['Getting started', 'docs/apps.md'],
  'contract.html': ['Contract', 'docs/contract.md'],
  'errors.html': ['Errors', 'docs/errors.md'],
  'deploy.html': ['Deploy', 'docs/deploy.md'],
  'admin.html': ['Admin', 'docs/admin.md'],
  'settings.html': ['Settings', 'docs/settings.md'],
} as const

/** The areas of the contract, which its own page leads to. */
const areas = readdirSync(join(root, 'docs/contract')).map((file) => basename(file, '.md'))

/** Every page by the name that it has on the site. */
const pages: Record<string, readonly [title: string, path: string]> = {
  ...guides,
  ...Object.fromEntries(areas.map((area) => [
    `contract-${area}.html`,
    [`Contract: ${area}`, `docs/contract/${area}.md`],
  ])),
}

const reference = 'reference.html'

const style = `
:root { color-scheme: light dark; --line: #8884; --quiet: #6a7480; --link: #0b6b57 }
@media (prefers-color-scheme: dark) { :root { --link: #5fcbb0 } }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: .75rem 1rem;
  border-bottom: 1px solid var(--line) }
main { max-width: 48rem; margin: 0 auto; padding: 1rem 1rem 4rem; overflow-wrap: anywhere }
a { color: var(--link) } nav a { text-decoration: none } nav a[aria-current] { font-weight: 600 }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem }
code { font: .9em ui-monospace, monospace } table { display: block; overflow-x: auto;
  border-collapse: collapse } td, th { padding: .25rem .75rem .25rem 0; text-align: start;
  vertical-align: top; border-bottom: 1px solid var(--line) }`

const head = (title: string, css: string) =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${css}</style>`

function navigation(current: string, descriptions: string): string {
  const links = [
    ...Object.entries(guides).map(([file, [title]]) => [file, title] as const),
    [reference, 'API reference'] as const,
  ]
  const shown = links.map(([file, title]) =>
    `<a href="${file}"${file === current ? ' aria-current="page"' : ''}>${title}</a>`
  )
  return `<nav>${shown.join('\n')}
<a href="${descriptions}openapi.json">openapi.json</a>
<a href="${descriptions}asyncapi.json">asyncapi.json</a></nav>`
}

/** Links between pages of docs/ lead to those of the site, where they are on it. */
const linked = (html: string, from: string) =>
  html.replace(/(?<=href=")[^":#]+\.md/g, (link) => {
    const path = joinUrl(dirname(from), link)
    return Object.keys(pages).find((name) => pages[name]![1] === path) ?? link
  })

/**
 * A file of the site, or undefined. `descriptions` is where openapi.json lies: beside the pages, or
 * at a running API.
 */
export function siteFile(name: string, descriptions = ''): string | undefined {
  if (name === 'redoc.js') return readFileSync(renderer, 'utf8')
  if (name === reference) {
    return `${head('API reference', `${style} :root { color-scheme: light; --link: #0b6b57 }`)}
${navigation(reference, descriptions)}
<redoc spec-url="${descriptions}openapi.json" hide-download-buttons="true" native-scrollbars="true"
  required-props-first="true" json-sample-expand-level="2" schema-expansion-level="0"></redoc>
<script src="redoc.js"></script>`
  }
  if (!Object.hasOwn(pages, name)) return undefined
  const [title, path] = pages[name]!
  const page = marked.parse(readFileSync(join(root, path), 'utf8'), { async: false })
  return `${head(title, style)}
${navigation(name, descriptions)}
<main>${linked(page, path)}</main>`
}

export const siteFiles = [...Object.keys(pages), reference, 'redoc.js']
