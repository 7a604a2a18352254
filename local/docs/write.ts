// npm run docs: regenerates pages of docs/, and writes the documentation as a static site into site/.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exactly } from '../../functions/api/http/plain-schemas.ts'
import { root } from '../config/settings.ts'
import { collectionOf } from './collection.ts'
import {
  chooseExamples,
  examplesFile,
  operationsOf,
  printExamples,
  readExamples,
  readFound,
} from './examples.ts'
import { textFile, textFiles } from './llms.ts'
import { describe } from './openapi.ts'
import { pages } from './pages.ts'
import { siteFile, siteFiles } from './site.ts'
import { validatorOf } from './validators.ts'

for (const [path, text] of Object.entries(pages)) writeFileSync(join(root, path), text)

const description = exactly(JSON.parse(describe()))
const { schemas } = description.components
const validate = validatorOf(schemas)
const present = process.argv.includes('--anew') ? {} : readExamples()
const operations = operationsOf(description)
const examples = chooseExamples(operations, present, readFound(), validate, schemas)
writeFileSync(join(root, examplesFile), printExamples(examples))

const site = join(root, 'site')
mkdirSync(site, { recursive: true })
const text = describe()
const api = exactly(JSON.parse(text))
for (const name of siteFiles(api)) writeFileSync(join(site, name), siteFile(name, api)!)
for (const name of textFiles(api)) writeFileSync(join(site, name), textFile(name, api)!)
writeFileSync(join(site, 'openapi.json'), text)
writeFileSync(join(site, 'asyncapi.json'), describe('/asyncapi.json'))
writeFileSync(join(site, 'postman.json'), JSON.stringify(collectionOf(api), null, 2))
console.log(`The documentation is in ${site}: any host of static files can serve it.`)
