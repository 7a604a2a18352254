// Part of npm run check: the description of the API keeps the recommended rules of Redocly and those of
// Spectral for OpenAPI, and says of every field what it holds.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { describe } from './openapi.ts'
import { silentPlaces } from './sentences.ts'

/** What is not kept, and why. */
const excused = {
  'info-license': 'the software is nobody else’s to use',
  'info-contact': 'who runs the service is not known here',
  'no-server-example.com': 'the address is that of the stack which describes itself',
}

const description = describe()

async function redocly(): Promise<string[]> {
  const off = Object.fromEntries(Object.keys(excused).map((rule) => [rule, 'off' as const]))
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      ...off,
      // Else each part of an allOf is closed by itself, and refuses what another part names.
      'no-invalid-media-type-examples': { severity: 'warn', allowAdditionalProperties: true },
    },
  })
  const problems = await lintFromString({ source: description, config })
  return problems.map(({ ruleId, message, location }) =>
    `${ruleId}: ${message} (${location[0]?.pointer})`
  )
}

async function spectral(): Promise<string[]> {
  const linter = new spectralCore.Spectral()
  linter.setRuleset({ extends: [oas as RulesetDefinition] })
  const problems = await linter.run(JSON.parse(description))
  return problems
    .filter(({ code }) => !Object.hasOwn(excused, code))
    .map(({ code, message, path }) => `${code}: ${message} (${path.join('.')})`)
}

const silent = silentPlaces(JSON.parse(description)).map((place) => `${place} has no sentence`)

const faults = [...await redocly(), ...await spectral(), ...silent]
for (const fault of faults.slice(0, 50)) console.error(fault)
if (faults.length > 50) console.error(`and ${faults.length - 50} more`)
process.exitCode = faults.length ? 1 : 0
