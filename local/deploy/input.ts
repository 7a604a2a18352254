// Reads the input of a deployment from the environment, which includes the variables in deploy.env.
import { facadeConnection, UnfitUrl } from '../../functions/_shared/settings/connection.ts'
import { isSecret } from '../../functions/_shared/settings/is-secret.ts'
import { items } from '../../functions/_shared/settings/setting-kinds.ts'
import { variable, type VariableName, variables } from '../config/environment.ts'
import { isLocalAddress, unknownNames, wrongValues } from './given.ts'

export type DeployInput = {
  ref: string
  token: string
  /** The password of role postgres. Without it, the Management API creates a temporary role. */
  databasePassword?: string
  apiUrl: string
  projectUrl: string
  siteUrl?: string
  env: NodeJS.ProcessEnv
}

const needed = ['SUPABASE_ACCESS_TOKEN', 'SUPABASE_PROJECT_ID'] as const

export function readInput(
  env: NodeJS.ProcessEnv,
  inFile: string[] = [],
): { input: DeployInput; problems: string[] } {
  const value = (name: VariableName) => variable(name, env)
  const ref = value('SUPABASE_PROJECT_ID') ?? ''
  const input: DeployInput = {
    ref,
    token: value('SUPABASE_ACCESS_TOKEN') ?? '',
    databasePassword: value('SUPABASE_DB_PASSWORD'),
    apiUrl: value('SUPABASE_API_URL')!.replace(/\/$/, ''),
    projectUrl: (value('SUPABASE_URL') ?? `https://${ref}.supabase.co`).replace(/\/$/, ''),
    siteUrl: value('SITE_URL'),
    env,
  }
  const problems = needed.filter((name) => !value(name))
    .map((name) => `Set ${name}. ${variables[name].about}`)
  if (ref && !/^[a-z]{20}$/.test(ref)) {
    problems.push('SUPABASE_PROJECT_ID must be the 20 letters of a project.')
  }
  // The access token and the keys are sent to these addresses, so they need TLS unless they are local.
  for (const address of [input.apiUrl, input.projectUrl]) {
    if (!/^https:\/\//.test(address) && !isLocalAddress(address)) {
      problems.push(`${address} must begin with https://.`)
    }
  }
  if (input.siteUrl && !/^https:\/\/[^/]+\.[^/]+/.test(input.siteUrl)) {
    problems.push('SITE_URL must be an address that begins with https://.')
  }
  for (const name of ['FACADE_DB_URL', 'FACADE_READ_DB_URL'] as const) {
    for (const url of items(env[name])) {
      try {
        const isReplica = name === 'FACADE_READ_DB_URL'
        const way = facadeConnection(url, input.projectUrl, { production: true }, isReplica)
        if (!isSecret(way.password)) throw new UnfitUrl('must have a password that is one.')
      } catch (error) {
        if (!(error instanceof UnfitUrl)) throw error
        problems.push(`${name} ${error.message}`)
      }
    }
  }
  return { input, problems: [...problems, ...unknownNames(env, inFile), ...wrongValues(env)] }
}
