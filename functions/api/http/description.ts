import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import { version } from '../../_shared/errors/log.ts'
import { sayEnd } from './deprecation.ts'
import { type Examples, setExamples } from './examples.ts'
import type { RouteDefinition } from './route-definition.ts'
import {
  answerHeaders,
  rateHeaders,
  requestHeader,
  requestHeaders,
  withHeaders,
} from './headers.ts'
import { introduction, tags } from './introduction.ts'
import { makePlain } from './plain-schemas.ts'
import { Problem } from './problem.ts'
import { examplesOf, responsesOf, sharedResponses } from './problem-responses.ts'
import { codesOf } from './refusals.ts'
import { nameBodies } from './request-bodies.ts'

type App = Pick<OpenAPIHono, 'openAPIRegistry'>
export type Document = ReturnType<OpenAPIHono['getOpenAPI31Document']>

export function describeApi({ openAPIRegistry }: App, url: string, examples: Examples): Document {
  const described = new OpenAPIHono()
  const { openAPIRegistry: registry } = described
  registry.register('Problem', Problem)
  const routes = openAPIRegistry.definitions
    .flatMap((one) => one.type === 'route' ? [one.route as RouteDefinition] : [])
  for (const one of routes) registry.registerPath(describeRoute(one))
  const document = described.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Property marketplace of Kuwait',
      version,
      description: introduction,
    },
    servers: [{ url }],
    tags,
  })
  // The library's types are for OpenAPI 3.0, in which a license has no `identifier`.
  const license = { name: 'All rights reserved', identifier: 'LicenseRef-Proprietary' }
  Object.assign(document.info, { license })
  Object.assign(document.components!, {
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'The `accessToken` of a session.',
      },
    },
    parameters: requestHeaders,
    headers: answerHeaders,
    responses: sharedResponses(routes.map(codesOf)),
    examples: examplesOf(new Set(routes.flatMap(codesOf))),
  })
  nameBodies(document)
  makePlain(document)
  setExamples(document, examples)
  return document
}

function describeRoute(route: RouteDefinition): RouteConfig {
  const {
    needs,
    errors: _errors,
    checks: _checks,
    reads: _reads,
    idempotent,
    proof,
    unlimited: _unlimited,
    always: _always,
    unknownKey: _unknownKey,
    guestCache,
    ownCache: _ownCache,
    deprecatedSince,
    security = [{}, { bearer: [] }],
    ...config
  } = route
  const headers = withHeaders(...headersOf(route))
  const answers = Object.entries(config.responses).map((
    [status, answer],
  ) => [status, { ...answer, headers }])
  return {
    ...config,
    security,
    ...(deprecatedSince && { deprecated: true }),
    description: [
      needs && needed[needs],
      config.description,
      deprecatedSince && sayEnd(deprecatedSince),
    ].filter(Boolean).join('\n\n'),
    parameters: [
      requestHeader('AcceptLanguage'),
      ...(security.length ? [requestHeader('ExpectIdentity')] : []),
      ...(proof ? [requestHeader('Proof')] : []),
      ...(idempotent ? [requestHeader('IdempotencyKey')] : []),
      ...(guestCache && config.responses[304] ? [requestHeader('IfNoneMatch')] : []),
    ],
    responses: { ...Object.fromEntries(answers), ...responsesOf(codesOf(route)) },
  }
}

const needed: Record<NonNullable<RouteDefinition['needs']>, string> = {
  identity: 'Acts as the active identity, which has to be `active`.',
  company: 'The active identity has to be a company.',
  office: 'The active identity has to be an office.',
  admin: 'For administrators.',
}

function headersOf(route: RouteDefinition) {
  const { security, guestCache, tags, unlimited, deprecatedSince, responses } = route
  return [
    ...(deprecatedSince ? ['Deprecation', 'Sunset'] as const : []),
    ...(security ? [] : ['AuthIgnored'] as const),
    ...(guestCache ? ['CacheControl'] as const : []),
    ...(guestCache && responses[304] ? ['ETag'] as const : []),
    ...(unlimited || tags[0] === 'service' ? [] : rateHeaders),
  ]
}
