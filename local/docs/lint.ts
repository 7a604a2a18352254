// Part of npm run check: the descriptions of the API keep the recommended rules of Redocly and those of
// Spectral for OpenAPI, and say of every field what it holds.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { describe } from './openapi.ts'
import { undescribedFields } from './sentences.ts'

/** What is not kept, and why. */
const excused = {
  'info-contact': 'who runs the service is not known here',
  'no-unused-components': 'exact forms are referred to in x-any-of alone',
}

const api = describe()
const events = describe('/asyncapi.json')

async function redocly(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, config })
  return problems
    .filter(({ ruleId }) => !Object.hasOwn(excused, ruleId))
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`)
}

async function spectral(): Promise<string[]> {
  const linter = new spectralCore.Spectral()
  linter.setRuleset({ extends: [oas as RulesetDefinition] })
  const problems = await linter.run(JSON.parse(api))
  return problems
    .filter(({ code }) => !Object.hasOwn(excused, code))
    .map(({ code, message, path }) => `${code}: ${message} (${path.join('.')})`)
}

const silent = [api, events].flatMap((description) =>
  undescribedFields(JSON.parse(description)).map((path) => `${path} has no sentence`)
)

const faults = [
  ...await redocly(api),
  ...await redocly(events),
  ...await spectral(),
  ...silent,
]
for (const fault of faults.slice(0, 50)) console.error(fault)
if (faults.length > 50) console.error(`and ${faults.length - 50} more`)
process.exitCode = faults.length ? 1 : 0
