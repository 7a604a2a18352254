import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, readConfig } from './config-toml.ts'
import { publicKeys, storedKeys } from './signing-keys.ts'
import { passwordOf, type Secrets, secretsOf } from './secrets.ts'
import { readSettings, root, type Settings } from './settings.ts'

export type Stack = Settings & {
  config: Config
  secrets: Secrets
  url: string
  /** The URL for phones: `url`, unless HOST is given. */
  publicUrl: string
  issuer: string
  inboxUrl: string
  studioUrl: string
  databaseUrl: (role: string) => string
  replicaUrl: (role: string) => string
  functionsUrl: (role: string) => string
}

export function readStack(env: NodeJS.ProcessEnv): Stack {
  const settings = readSettings(env)
  const { ports } = settings
  const secrets = secretsOf(settings.dataDir)
  const url = `http://127.0.0.1:${ports.api}`
  const databaseAt = (port: number) => (role: string) =>
    `postgresql://${role}:${passwordOf(secrets, role)}@127.0.0.1:${port}/postgres`
  return {
    ...settings,
    config: readConfig({ ...dotEnv(), ...env }),
    secrets,
    url,
    publicUrl: `http://${settings.host ?? '127.0.0.1'}:${ports.api}`,
    issuer: `${url}/auth/v1`,
    inboxUrl: `http://127.0.0.1:${ports.inbox}`,
    studioUrl: `http://127.0.0.1:${ports.studio}`,
    databaseUrl: databaseAt(ports.database),
    replicaUrl: databaseAt(ports.replica),
    functionsUrl: databaseAt(settings.lateSeed === undefined ? ports.database : ports.lateDatabase),
  }
}

/** Returns the content of `stack.json`, which describes a running stack to other programs. */
export function describeStack(stack: Stack) {
  return {
    url: stack.url,
    baseUrl: `${stack.url}/functions/v1/api`,
    publishableKey: stack.secrets.publishableKey,
    secretKey: stack.secrets.secretKey,
    databaseUrl: stack.databaseUrl('postgres'),
    inboxUrl: stack.inboxUrl,
    studioUrl: stack.studioUrl,
    chatUrls: chatPorts(stack).map((port) => `ws://127.0.0.1:${port}/chat`),
  }
}

export const chatPorts = ({ gateways, ports }: Settings) =>
  [ports.chat1, ports.chat2].slice(0, gateways)

const passedThrough =
  /^(SMS|MAIL|GOOGLE|APPLE|TAP|MYFATOORAH|FCM|GATEWAY|PAYMENT|SANDBOX|RETURN|CORS)_|^PATIENCE$/

export function functionsEnvironment(stack: Stack, env: NodeJS.ProcessEnv) {
  const { secrets } = stack
  const own = Object.entries(env).filter(([name]) => passedThrough.test(name))
  return {
    SUPABASE_URL: stack.url,
    ...(stack.host && {
      API_URL: `${stack.publicUrl}/functions/v1/api`,
      FILES_URL: `${stack.publicUrl}/storage/v1/object/public`,
    }),
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: secrets.publishableKey }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: secrets.secretKey }),
    SUPABASE_JWKS: JSON.stringify(publicKeys(storedKeys(stack.dataDir))),
    SUPABASE_DB_URL: stack.functionsUrl('postgres'),
    FACADE_DB_URL: stack.functionsUrl('facade'),
    ...(stack.replica !== 'none' && { FACADE_READ_DB_URL: stack.replicaUrl('facade') }),
    // One process serves all requests, and searches get half of its connections. On 2 cores, six concurrent
    // searches cost Deno a third less time than three. With more than 12 connections in all, Postgres loses
    // this gain again.
    FACADE_DB_POOL: '12',
    CODE_SECRET: secrets.code,
    SEAL_KEY: secrets.seal,
    INBOX_URL: stack.inboxUrl,
    // The sandbox is our own payment provider. Its page simulates payments.
    PAYMENT_PROVIDER: 'sandbox',
    SANDBOX_SECRET: passwordOf(secrets, 'sandbox'),
    RETURN_URLS: [
      ...new Set([stack.url, stack.publicUrl].map((url) => `${url}/functions/v1/api/sandbox/done`)),
      'https://app.example/payments',
    ].join(),
    // The ports of the development servers of Next, Vite, the desk and Expo.
    CORS_ORIGINS: ['localhost', ...(stack.host ? [stack.host] : [])]
      .flatMap((host) => [3000, 5173, 5174, 8081].map((port) => `http://${host}:${port}`)).join(),
    CLIENT_IP_HOPS: '1',
    ENVIRONMENT: 'local',
    HTML_PAGES: 'true',
    DOCS_URL: `${stack.url}/docs/`,
    ...(stack.rates
      ? {}
      : { READ_RATE: '0', REFUSAL_RATE: '0', SMS_PER_DAY: '0', GATEWAY_MESSAGES: '0' }),
    ...dotEnv(),
    ...Object.fromEntries(own),
  }
}

function dotEnv(): Record<string, string> {
  const path = join(root, '.env')
  if (!existsSync(path)) return {}
  const lines = readFileSync(path, 'utf8').split('\n')
  return Object.fromEntries(lines.flatMap((line) => {
    const [, name, value] = /^\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    return name ? [[name, value!.replace(/^(["'])(.*)\1$/, '$2')]] : []
  }))
}
