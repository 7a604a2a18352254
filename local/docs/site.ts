// The documentation as a static site: the guide, the reference of the API, and how to deploy. It loads
// nothing from elsewhere; Redoc draws the reference.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { marked } from 'marked'
import { root } from '../stack/settings.ts'

const renderer = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js')

/** Pages of docs/ by the name that they have on the site. */
const guides = {
  'index.html': ['Getting started', 'docs/apps.md'],
  'contract.html': ['Contract', 'docs/contract.md'],
  'errors.html': ['Errors', 'docs/errors.md'],
  'deploy.html': ['Deploy', 'docs/deploy.md'],
  'admin.html': ['Admin', 'docs/admin.md'],
  'settings.html': ['Settings', 'docs/settings.md'],
} as const

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
const linked = (html: string) =>
  Object.entries(guides).reduce(
    (text, [file, [, path]]) => text.replaceAll(`href="${path.slice(5)}`, `href="${file}`),
    html,
  )

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
  if (!Object.hasOwn(guides, name)) return undefined
  const [title, path] = guides[name as keyof typeof guides]
  const page = marked.parse(readFileSync(join(root, path), 'utf8'), { async: false })
  return `${head(title, style)}
${navigation(name, descriptions)}
<main>${linked(page)}</main>`
}

export const siteFiles = [...Object.keys(guides), reference, 'redoc.js']
