// npm run deploy: deploys migrations, settings, secrets and functions to a hosted project. It checks all its
// input before it sends anything, and reads the results back. It can be run again at any time.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { settings as functionSettings } from '../../functions/_shared/settings/settings.ts'
import { variables } from '../config/environment.ts'
import { UserError } from '../config/user-error.ts'
import { errorLines, supabase, writeProject } from '../schema/cli.ts'
import { allOrNone } from './all-or-none.ts'
import { checkConfig, configFile, configText, withoutDeferred } from './config-file.ts'
import { differences, foreignThings, notOurs } from './check.ts'
import { collationChange, isFacadeShut, openDatabase, refreshTokens } from './database.ts'
import { hasReplicas, partsOff, unfit } from './given.ts'
import { type DeployInput, readInput } from './input.ts'
import {
  measureHops,
  runJobs,
  smokeTest,
  verifyCaptcha,
  verifyDoors,
  verifyHops,
} from './live-checks.ts'
import { openManagement } from './management.ts'
import { readProject } from './project.ts'
import { schedule } from './schedule.ts'
import { readSecretHashes, secretsFrom, sensitiveParts, setSecrets } from './secrets.ts'
import { assertSettings, setByApi, settings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'deploy-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const redactedValues = new Set<string>()
const redact = (secret: string) =>
  sensitiveParts(secret).forEach((part) => redactedValues.add(part))
const redacted = (text: string) =>
  [...redactedValues].sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text)

/**
 * `--without-migrations` allows deploying an earlier version. `--take-over` allows deploying to a project
 * with contents of another product.
 */
const flagsKnown = (ref: string) => [
  '--check',
  '--new-facade-password',
  '--without-migrations',
  `--take-over=${ref}`,
]

async function deploy(env: NodeJS.ProcessEnv, flags: Set<string>): Promise<void> {
  for (const [name, { secret }] of Object.entries({ ...functionSettings, ...variables })) {
    if (secret && env[name]) redact(env[name])
  }
  const { input, problems } = readInput(env, namesInFiles())
  const config = checkConfig(configText(), env)
  const flagsHere = flagsKnown(input.ref)
  const odd = [...flags].filter((flag) => !flagsHere.includes(flag))
    .map((flag) => `There is no ${flag}, only ${flagsHere.join(', ')}.`)
  const wrong = [...odd, ...problems, ...config.problems]
  if (wrong.length) stop(wrong)

  const management = openManagement(input.apiUrl, input.ref, input.token)
  const found = await readProject(management, input)
  found.keys.forEach(redact)
  const there = found.secrets
  const unready = [...found.problems, ...unfit(env, there)]
  if (unready.length) stop(unready)
  console.log(`-- checked: ${input.ref}, ${config.functions.length} functions`)
  for (const off of partsOff(env, there)) console.log(`-- off: ${off}`)
  for (const one of notOurs(found, config.functions, env)) console.log(`-- not deploy's: ${one}`)

  const onlyLooks = flags.has('--check')
  const database = await openDatabase(input, management, redact, onlyLooks)
  const looked = {
    project: found,
    functions: config.functions,
    env,
    client: database.client,
    management,
  }
  const foreign = await foreignThings(looked)
  if (foreign.length && !flags.has(`--take-over=${input.ref}`)) {
    await database.close()
    stop([
      `The project is another product's: ${foreign.join('; ')}. If it shall be this one's too, ` +
      `say --take-over=${input.ref}.`,
    ])
  }
  if (onlyLooks) {
    const differ = await differences(looked)
    console.log(`-- refresh tokens: ${await refreshTokens(database.client)}`)
    const collation = await collationChange(database.client)
    if (collation) {
      console.log(
        `-- collation of indexes: ${collation} (docs/deploy.md, After an upgrade of Postgres)`,
      )
      process.exitCode = 2
    }
    await database.close()
    const lines = differ.map((one) => `\n   ${one}`).join('')
    console.log(lines ? `-- would become${lines}` : '-- as a deployment would leave it')
    // A difference is a failure only if the project was deployed before.
    if (lines && there.has('FACADE_DB_URL')) process.exitCode = 2
    return
  }

  const { publishableKey, secretKey } = found
  const functionsUrl = `${input.projectUrl}/functions/v1`
  const apiUrl = env.API_URL?.replace(/\/$/, '') || `${functionsUrl}/api`
  const own = [
    ...settings.filter(({ file }) => !file),
    ...(input.siteUrl ? [siteUrl(input.siteUrl)] : []),
  ]
  const prompt = settings.filter(({ afterCaptcha }) => !afterCaptcha)
  const steps: [what: string, run: () => Promise<string | void>][] = [
    ...(flags.has('--without-migrations')
      ? []
      : [['migrations', database.push] satisfies [string, () => Promise<void>]]),
    ['secrets', async () => {
      const sent = await setSecrets(management, secretsFrom(env, there))
      const stored = (await readSecretHashes(management)).get('FACADE_DB_URL')
      const shut = !env.FACADE_DB_URL && await isFacadeShut(database.client, stored)
      if (!stored || shut || flags.has('--new-facade-password')) {
        await database.openFacade(async (url) => {
          sent.push(...await setSecrets(management, new Map([['FACADE_DB_URL', url]])))
        })
      }
      return sent.length ? sent.join(', ') : 'as they were'
    }],
    ['settings', async () => {
      await pushConfig(input, withoutDeferred(configText()))
      const refused = await setByApi(management, own)
      await assertSettings(management, [...prompt, ...own], refused)
      return 'set and read back'
    }],
    ['captcha', async () => {
      await verifyCaptcha(input.projectUrl, publishableKey)
      return 'refuses strangers'
    }],
    ['rate of tokens', async () => {
      await pushConfig(input, configText())
      await assertSettings(management, settings)
      return 'as in config.toml'
    }],
    ['functions', async () => {
      await allOrNone(
        input.apiUrl,
        (apiUrl) => cli({ ...input, apiUrl }, ['functions', 'deploy', '--use-api']),
      )
      const live = await management.get<{ slug: string; version: number }[]>('/functions')
      const lost = config.functions.filter((name) => !live.some(({ slug }) => slug === name))
      if (lost.length) throw new UserError(`The project does not have them: ${lost.join(', ')}.`)
      return live.map(({ slug, version }) => `${slug} ${version}`).join(', ')
    }],
    ['client addresses', async () => {
      const hops = await measured(env, [functionsUrl, apiUrl.replace(/\/api$/, '')], secretKey)
      await setSecrets(management, new Map([['CLIENT_IP_HOPS', String(hops)]]))
      await verifyHops(`${functionsUrl}/jobs/address`, secretKey, hops)
      return `CLIENT_IP_HOPS is ${hops}`
    }],
    ['jobs', async () => {
      const count = await runJobs(`${functionsUrl}/jobs`, secretKey)
      await schedule(
        database.client,
        input.projectUrl,
        found.secretKeys,
        hasReplicas(env, there),
      )
      return `${count} ran, and are scheduled`
    }],
    ['answers', async () => {
      const live = await smokeTest(functionsUrl, apiUrl, config.functions, secretKey)
      const parts = Object.entries(live.health).map(([part, state]) => `${part} ${state}`)
      const tokens = await refreshTokens(database.client)
      return `${live.answered.join(', ')} at ${functionsUrl}\n   health: ${parts.join(', ')}` +
        `\n   refresh tokens: ${tokens}`
    }],
    ['doors of Auth', async () => {
      await verifyDoors(`${functionsUrl}/jobs/doors`, secretKey)
      return 'shut'
    }],
  ]
  for (const [what, run] of steps) {
    try {
      const output = await run()
      console.log(redacted(`-- ${what}${output ? `: ${output}` : ''}`))
    } catch (error) {
      await database.close().catch(() => {})
      throw new UserError(
        `Stopped at "${what}": ${(error as Error).message}\n` +
          'The steps before it are done; run it again when this is fixed.',
      )
    }
  }
  await database.close()
  console.log('Deployed. What is left by hand the first time: docs/deploy.md.')
}

/** Returns the names of the variables in the files that Node reads because of --env-file (deploy.env). */
const namesInFiles = () =>
  process.execArgv.flatMap((flag) => {
    const [, file] = /^--env-file(?:-if-exists)?=(.+)$/.exec(flag) ?? []
    return file && existsSync(file) ? Object.keys(parseEnv(readFileSync(file, 'utf8'))) : []
  })

const siteUrl = (value: string) => ({ at: 'auth' as const, key: 'site_url', value })

/** Measures the hops at all URLs that clients use. If they differ, callers of one could forge an address. */
async function measured(env: NodeJS.ProcessEnv, bases: string[], key: string): Promise<number> {
  const chosen = env.CLIENT_IP_HOPS ? Number(env.CLIENT_IP_HOPS) : undefined
  const found: number[] = []
  for (const base of new Set(bases)) {
    found.push(await measureHops(`${base}/jobs/address`, key, chosen))
  }
  if (new Set(found).size === 1) return found[0]!
  throw new UserError(
    `The project's own address and API_URL pass on callers differently (${found.join(' and ')} ` +
      'from the right), so one of them could be forged. Let the API be reached by one of them.',
  )
}

/** Runs the CLI's config push in a copy of the project, so that it creates no files in the repository. */
async function pushConfig(input: DeployInput, text: string): Promise<void> {
  const copy = writeProject(mkdtempSync(join(folder, 'config-')), configFile, join(folder, 'none'))
  writeFileSync(join(copy, 'supabase', 'config.toml'), text)
  await cli(input, ['config', 'push', '--workdir', copy])
}

async function cli({ ref, apiUrl }: DeployInput, args: string[]): Promise<void> {
  const output = await supabase([...args, `--remote=${ref}`, '--yes'], profile(apiUrl))
  if (output.code === 0) return
  // Progress lines about uploads do not help to understand the error.
  const stderr = output.stderr.split('\n').filter((line) => !/^(Uploading|Deploying) /.test(line))
  throw new UserError(errorLines({ ...output, stderr: stderr.join('\n') }))
}

/** The CLI accepts the address of another Management API only in a profile file. */
function profile(apiUrl: string): Record<string, string> {
  if (apiUrl === variables.SUPABASE_API_URL.default) return {}
  const file = join(folder, 'profile.yaml')
  const host = new URL(apiUrl).hostname
  const lines = { name: 'own', api_url: apiUrl, dashboard_url: apiUrl, project_host: host }
  writeFileSync(file, Object.entries(lines).map(([name, value]) => `${name}: ${value}\n`).join(''))
  return { SUPABASE_PROFILE: file }
}

function stop(problems: string[]): never {
  throw new UserError(`Nothing was sent.\n${problems.join('\n')}`)
}

await deploy(process.env, new Set(process.argv.slice(2))).catch((error) => {
  if (!(error instanceof UserError)) throw error
  console.error(redacted(error.message))
  process.exitCode = 1
})
