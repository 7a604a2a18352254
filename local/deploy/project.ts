import { isLocalAddress, type SecretMap } from './given.ts'
import type { DeployInput } from './input.ts'
import type { Management } from './management.ts'
import { readSecretHashes } from './secrets.ts'

type Key = { type?: string; api_key?: string | null; name: string }
type SigningKey = { status: string; algorithm: string }

export type Project = {
  problems: string[]
  /** All keys except the publishable ones. They must not appear in the output. */
  keys: string[]
  publishableKey: string
  secretKey: string
  secretKeys: string[]
  secrets: SecretMap
  functions: string[]
  auth: Record<string, unknown>
}

/** Only asymmetric algorithms are accepted: the key that verifies tokens must not be able to sign them. */
const asymmetric = ['ES256', 'RS256']

export async function readProject(management: Management, input: DeployInput): Promise<Project> {
  const [project, keys, signing, auth, secrets, functions] = await Promise.all([
    management.get<{ status: string; database?: { postgres_engine?: string; version?: string } }>(
      '',
    ),
    management.get<Key[]>('/api-keys?reveal=true'),
    management.get<{ keys: SigningKey[] }>('/config/auth/signing-keys'),
    management.get<Record<string, unknown>>('/config/auth'),
    readSecretHashes(management),
    management.get<{ slug: string }[]>('/functions'),
  ])
  const keyOf = (type: string, prefix: string) =>
    keys.find((key) => key.type === type && key.api_key?.startsWith(prefix))?.api_key ?? ''
  const publishableKey = keyOf('publishable', 'sb_publishable_')
  const secretKey = keyOf('secret', 'sb_secret_')
  const signs = signing.keys.find(({ status }) => status === 'in_use')
  const engine = project.database?.postgres_engine ?? project.database?.version
  const problems = [
    ...(String(engine).split('.')[0] === '17' ? [] : [
      `The project has Postgres ${engine ?? 'of an unknown version'}: it must be 17.`,
    ]),
    ...(publishableKey && !await isOf(input, publishableKey)
      ? [`${input.projectUrl} is not this project: it does not take its publishable key.`]
      : []),
    ...(project.status === 'ACTIVE_HEALTHY' ? [] : [`The project is ${project.status}.`]),
    ...(publishableKey && secretKey ? [] : [
      'The project has no new API keys, or the token may not see them: make a publishable and a ' +
      'secret one (Settings, API Keys).',
    ]),
    ...(signs && asymmetric.includes(signs.algorithm) ? [] : [
      `The project signs its tokens with ${signs?.algorithm ?? 'nothing'}: rotate to a key of ` +
      `${asymmetric.join(' or ')} (Settings, JWT Keys).`,
    ]),
    ...(!input.siteUrl && isLocalAddress(auth.site_url)
      ? [
        `Auth's site URL is ${auth.site_url}, an address of the local machine: set SITE_URL to the ` +
        'address of your app or site.',
      ]
      : []),
  ]
  return {
    problems,
    keys: keys.flatMap(({ api_key: key, type }) => key && type !== 'publishable' ? [key] : []),
    publishableKey,
    secretKey,
    secretKeys: keys.flatMap(({ api_key: key, type }) => key && type === 'secret' ? [key] : []),
    secrets,
    functions: functions.map(({ slug }) => slug),
    auth,
  }
}

/** Whether a given SUPABASE_URL belongs to this project, that is, whether its gateway accepts our key. */
async function isOf({ projectUrl, ref }: DeployInput, key: string): Promise<boolean> {
  if (projectUrl === `https://${ref}.supabase.co`) return true
  const response = await fetch(`${projectUrl}/auth/v1/settings`, {
    headers: { apikey: key },
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined)
  await response?.body?.cancel()
  return response?.status === 200
}
