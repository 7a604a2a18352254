// Part of npm run check: the API descriptions follow every rule of Redocly except those excused here, and
// describe every field; the examples, and what pages show, are as they say.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { exactly } from '../../functions/api/http/plain-schemas.ts'
import { wrongExamples } from './examples.ts'
import { files } from './files.ts'
import { describe } from './openapi.ts'
import { undescribedFields } from './sentences.ts'
import { wrongShapes } from './shown.ts'

const taste = 'the contract decides the names, the order and the media types'

const excused: Record<string, string> = {
  'boolean-parameter-prefixes': taste,
  'info-contact': 'the code does not know who runs the service',
  'no-http-verbs-in-paths': taste,
  'no-unused-components': 'exact forms are referenced only by x-any-of',
  'operation-4xx-problem-details-rfc7807': 'errors have the shape of the contract',
  'parameter-description': 'the schema of the parameter has the description',
  'path-http-verbs-order': taste,
  'path-segment-plural': taste,
  'request-mime-type': taste,
  'required-string-property-missing-min-length': 'only requests have minimum lengths',
  'response-mime-type': taste,
  'scalar-property-missing-example': 'for most fields a description is enough',
  'tags-alphabetical': taste,
}

/** A rule below `not` requires fields that the object around it defines. */
const isOfTheOuter = (ruleId: string, pointer = '') =>
  ruleId === 'no-required-schema-properties-undefined' && pointer.includes('/not/')

async function faultsOf(description: string): Promise<string[]> {
  const config = await createConfig({ extends: ['all'] })
  const problems = await lintFromString({ source: description, config })
  return [
    ...problems
      .filter(({ ruleId, location }) =>
        !Object.hasOwn(excused, ruleId) && !isOfTheOuter(ruleId, location[0]?.pointer)
      )
      .map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`),
    ...undescribedFields(JSON.parse(description)).map((path) => `${path} has no sentence`),
  ]
}

const [api, events] = [describe(), describe('/asyncapi.json')]
const faults = [
  ...await faultsOf(api),
  ...await faultsOf(events),
  ...wrongExamples(exactly(JSON.parse(api))),
  ...wrongShapes(files, JSON.parse(api), JSON.parse(events)),
]
for (const fault of faults.slice(0, 50)) console.error(fault)
if (faults.length > 50) console.error(`and ${faults.length - 50} more`)
process.exitCode = faults.length ? 1 : 0
