// Checks that Unicode is normalized in only one place in SQL and one in the functions. Both limit the length
// first, because a long run of combining marks takes quadratic time to normalize, and Postgres cannot be
// interrupted during that. For the same reason, every route limits the length of a client's text before
// processing it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './config/settings.ts'

const rules = [
  {
    folder: 'sql',
    only: '01_base/2_rules_text.sql',
    made: /\bnormalize\s*\(|\bis\s+(not\s+)?(nfk?[cd]\s+)?normalized\b/gi,
    instead: 'private.normal_form',
  },
  {
    folder: 'functions',
    only: '_shared/input/texts.ts',
    made: /\bnormalize\b\W{0,3}\s*\(/g,
    instead: 'functions/_shared/input/texts.ts',
  },
  {
    folder: 'functions',
    only: '_shared/input/texts.ts',
    made: /\bz\s*\.string\([^()]*\)\s*\.(trim|toLowerCase|toUpperCase)\(/g,
    instead: 'text() of functions/_shared/input/texts.ts',
  },
]

const faults = rules.flatMap(({ folder, only, made, instead }) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.(sql|ts)$/.test(file) && file !== only)
    .flatMap((file) =>
      [...readFileSync(join(root, folder, file), 'utf8').matchAll(made)]
        .map(([found]) => `${folder}/${file}: ${found} - use ${instead}`)
    )
)

for (const fault of faults) console.log(fault)
process.exitCode = faults.length ? 1 : 0
