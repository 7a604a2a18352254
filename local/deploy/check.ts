// npm run deploy -- --check: reports what a deployment would change, and which parts of the project it does
// not manage.
import type pg from 'pg'
import { hasOtherBaseline } from '../schema/baseline.ts'
import { migrationsIn, projectMigrations } from '../schema/cli.ts'
import { isFacadeShut } from './database.ts'
import { hasReplicas, unread } from './given.ts'
import type { Management } from './management.ts'
import type { Project } from './project.ts'
import { unscheduledJobs } from './schedule.ts'
import { changedSecrets, secretsFrom } from './secrets.ts'
import { readSettings, settings, settingsThatDiffer } from './settings.ts'

type Looked = {
  project: Project
  functions: string[]
  env: NodeJS.ProcessEnv
  client: pg.Client
  management: Management
}

/** Returns things in the project that belong to another product; none if the database is already ours. */
export async function foreignThings({ client, project, functions }: Looked): Promise<string[]> {
  const { rows: [{ ours, tables, users }] } = await client.query<
    { ours: boolean; tables: string[]; users: number }
  >(
    `select to_regprocedure('private.custom_access_token(jsonb)') is not null as ours,
       array(
         select relname::text from pg_class
         where relkind in ('r', 'p', 'v', 'm') and relnamespace = 'public'::regnamespace
           and not exists (
             select from pg_depend where objid = pg_class.oid and deptype = 'e'
           )
         order by 1
       ) as tables,
       (select count(*)::integer from auth.users) as users`,
  )
  if (ours) return []
  const some = [...tables.slice(0, 3), ...(tables.length > 3 ? ['…'] : [])].join(', ')
  return [
    ...(tables.length ? [`tables: ${tables.length} (${some})`] : []),
    ...(users ? [`people in Auth: ${users}`] : []),
    ...project.functions.filter((name) => !functions.includes(name))
      .map((name) => `the function ${name}`),
  ]
}

export async function differences(looked: Looked): Promise<string[]> {
  const { project, functions, env, client, management } = looked
  const { secrets } = project
  const open = settingsThatDiffer(await readSettings(management), settings)
  const changed = changedSecrets(secretsFrom(env, secrets), secrets)
  const missing = functions.filter((name) => !project.functions.includes(name))
  const pending = await pendingMigrations(client)
  if (await hasOtherBaseline(client)) pending.push('the baseline, which was made anew')
  const jobs = await unscheduledJobs(client, hasReplicas(env, secrets))
  const shut = !env.FACADE_DB_URL &&
    await isFacadeShut(client, secrets.get('FACADE_DB_URL'))
  return [
    ...open.map(({ at, key, value }) => `${at} ${key}: ${value}`),
    ...(changed.length ? [`secrets: ${changed.join(', ')}`] : []),
    ...(missing.length ? [`functions: ${missing.join(', ')}`] : []),
    ...(pending.length ? [`migrations: ${pending.join(', ')}`] : []),
    ...(shut ? ['the password of the facade, which is not the one of FACADE_DB_URL'] : []),
    ...(jobs.length ? [`jobs that are not scheduled: ${jobs.join(', ')}`] : []),
  ]
}

async function pendingMigrations(client: pg.Client): Promise<string[]> {
  const { rows: [{ there }] } = await client.query(
    `select to_regclass('supabase_migrations.schema_migrations') is not null as there`,
  )
  const { rows } = there
    ? await client.query('select version from supabase_migrations.schema_migrations')
    : { rows: [] }
  return migrationsIn(projectMigrations)
    .filter((name) => !rows.some(({ version }) => name.startsWith(version)))
}

/** Auth settings that enable further ways to sign in. Those that deploy does not set are reported. */
const door = /^(external_\w+|hook_\w+|saml|custom_oauth)_enabled$/

export function notOurs(project: Project, functions: string[], env: NodeJS.ProcessEnv): string[] {
  const owned = settings.map(({ key }) => key)
  const given = ['google', 'apple'].filter((name) => env[`${name.toUpperCase()}_CLIENT_IDS`])
    .map((name) => `external_${name}_enabled`)
  return [
    ...project.functions.filter((name) => !functions.includes(name))
      .map((name) => `function ${name}`),
    ...unread(project.secrets).map((name) => `secret ${name}, which no function reads`),
    ...Object.entries(project.auth).filter(([key, value]) =>
      value === true && door.test(key) && !owned.includes(key) && !given.includes(key)
    ).map(([key]) => `auth ${key}: true`),
  ]
}
