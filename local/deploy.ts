// npm run deploy: migrations, functions and settings to a hosted project. Nothing is asked for
// that can be read from config.toml, and nothing is sent before everything is there.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const supabase = join(root, 'node_modules', '.bin', 'supabase')

const needed = {
  SUPABASE_ACCESS_TOKEN: 'a personal access token of your Supabase account',
  SUPABASE_PROJECT_ID: 'the reference of the project (the first part of its address)',
  SUPABASE_DB_PASSWORD: 'the password of its database',
}
const missing = Object.entries(needed).filter(([name]) => !process.env[name])
if (missing.length) {
  for (const [name, what] of missing) console.error(`Set ${name}: ${what}.`)
  process.exit(1)
}

const remote = `--remote=${process.env.SUPABASE_PROJECT_ID}`
const steps: [what: string, args: string[]][] = [
  ['migrations', ['db', 'push', remote, '--yes']],
  ['settings of Auth and API', ['config', 'push', remote, '--yes']],
  // One after another: two deploys of one function at a time lose each other's code.
  ['function api', ['functions', 'deploy', 'api', remote, '--use-api']],
  ['function jobs', ['functions', 'deploy', 'jobs', remote, '--use-api']],
]
for (const [what, args] of steps) {
  console.log(`-- ${what}`)
  const { status } = spawnSync(supabase, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`Stopped at "${what}". What came before is in place; run it again when mended.`)
    process.exit(1)
  }
}
console.log('Deployed. First time: see README, "Deploy", for the secrets and the schedule.')
