// npm run docs: regenerates pages of docs/, and writes the documentation as a static site into site/.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../config/settings.ts'
import { describe } from './openapi.ts'
import { pages } from './pages.ts'
import { siteFile, siteFiles } from './site.ts'

for (const [path, text] of Object.entries(pages)) writeFileSync(join(root, path), text)

const site = join(root, 'site')
mkdirSync(site, { recursive: true })
for (const name of siteFiles) writeFileSync(join(site, name), siteFile(name)!)
for (const name of ['openapi.json', 'asyncapi.json']) {
  writeFileSync(join(site, name), describe(`/${name}`))
}
console.log(`The documentation is in ${site}: any host of static files can serve it.`)
