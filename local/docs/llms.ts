// For language models: llms.txt (a table of contents) and the Markdown of each page, under the names that
// https://llmstxt.org proposes.
import { dirname, join as joinUrl } from 'node:path/posix'
import { type Api, referenceFiles } from './reference.ts'
import { readPage } from './sections.ts'
import { pageOf, pages, textOf } from './site.ts'

const ofApps = /^docs\/(apps|contract|supabase-js|errors)/

/** Returns one of these files, or undefined if there is none with this name. */
export function textFile(name: string, api: Api, descriptions = ''): string | undefined {
  if (name === 'llms.txt') return contents(descriptions)
  const page = name.replace(/\.md$/, '')
  const [, text, path] = page === name ? [] : pageOf(page, api)
  if (!path) return text?.replace(/^<\/?div.*\n+/gm, '').replace(/(?<=\]\(\S+\.html)/g, '.md')
  return text!.replace(/(?<=\]\()[^):#]+\.md/g, (link) => {
    const target = joinUrl(dirname(path), link)
    const [file] = Object.entries(pages).find(([, [, one]]) => one === target) ?? []
    return file ? `${file}.md` : link
  })
}

export const textFiles = (
  api: Api,
) => ['llms.txt', ...[...Object.keys(pages), ...referenceFiles(api)].map((name) => `${name}.md`)]

function contents(descriptions: string): string {
  const listed = (isListed: (path: string) => boolean) =>
    Object.entries(pages).filter(([, [, path]]) => isListed(path)).map(([file, [title, path]]) =>
      `- [${title}](${file}.md): ${readPage(textOf(path)).sections[0]!.title}`
    ).join('\n')
  return `# Property marketplace of Kuwait: the backend

> Accounts with several identities, listings for sale, rent and exchange, search, map, favorites, chat,
> notifications, companies, reviews, pictures, plans, wallet and payments, over HTTP, on Supabase.

An app calls \`<project url>/functions/v1/api\`. Every error has one shape, and programs look at \`error.code\`.
What a page shows of a request or an answer is checked against the description.

## For apps

${listed((path) => ofApps.test(path))}
- [API reference](reference.html.md): operations by area, each with samples of curl and the client

## Descriptions

- [openapi.json](${descriptions}openapi.json): every operation, with a request and an answer that were really sent
- [asyncapi.json](${descriptions}asyncapi.json): events of Realtime and frames of the gateway

## Optional

${listed((path) => !ofApps.test(path))}
`
}
