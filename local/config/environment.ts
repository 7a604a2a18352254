// Declares the environment variables of the Node programs (local stack, deploy, tests). `variable` reads
// them. The variables of the functions are declared in functions/_shared/settings/settings.ts.

type Program = 'stack' | 'deploy' | 'restore' | 'docs' | 'tests' | 'suite'

export type Variable = {
  about: string
  /** The programs that use the variable. `suite` means that the tests set it for processes they start. */
  of: Program[]
  default?: string
  secret?: boolean
}

const declared = {
  PORT: {
    about:
      'The port of the API; thirteen more follow, so that stacks beside one another are 14 apart.',
    of: ['stack'],
    default: '54321',
  },
  HOST: {
    about:
      'The address of this machine by which phones reach it, as `192.168.1.20`: the API listens ' +
      'there as well, and addresses of pictures and pages name it. Without it nobody but this machine ' +
      'reaches anything.',
    of: ['stack'],
  },
  LOCAL_DATA: { about: 'The folder of its data.', of: ['stack'], default: '.local' },
  SEED: {
    about: '`demo` puts 2,000 listings in, `none` leaves it empty.',
    of: ['stack'],
    default: 'demo',
  },
  RATES: {
    about: '`off` lifts the limits on how often something may be done, also those of Realtime.',
    of: ['stack'],
    default: 'on',
  },
  HASHING: {
    about:
      "`quick` hashes passwords at the least cost there is, `default` at Auth's own; `npm test` is " +
      '`quick`.',
    of: ['stack', 'tests'],
  },
  REFUSED_JOINS: {
    about:
      '`quick` has Realtime refuse a channel after a fifth of a second, `slow` after 5 s, as the ' +
      'platform does; `npm test` is `quick`.',
    of: ['stack'],
    default: 'slow',
  },
  CALLS: {
    about: '`counted` has Postgres count the calls of its functions.',
    of: ['stack'],
    default: 'uncounted',
  },
  GATEWAYS: {
    about: 'Processes of the chat gateway, 0 to 2; with none its sockets are those of the edge ' +
      'function.',
    of: ['stack'],
    default: '1',
  },
  REPLICAS: {
    about:
      '`1` runs a read replica of the database, and guests are shown what it has; with `synchronous` all ' +
      'that was written is on it at once, as tests need it: `REPLICAS=1 npm test` does so.',
    of: ['stack', 'tests'],
    default: '0',
  },
  WORKER_LIFE: {
    about:
      'Seconds after which a worker of an edge function ends, as on the smallest plan; at half ' +
      'of it the next request gets a fresh one. 0 is never.',
    of: ['stack'],
    default: '150',
  },
  LATE_ANSWERS: {
    about:
      'A seed: one answer in fifty of the database, of Auth, Realtime and Storage comes up to 500 ms ' +
      'late, as the seed draws; `npm run test:slow` sets it.',
    of: ['stack'],
  },
  REAL_STORAGE: {
    about: 'The folder of supabase/storage, built: it runs in place of the stand-in.',
    of: ['stack', 'tests'],
  },
  REAL_AUTH: {
    about:
      'The binary of supabase/auth, its migrations beside it: it runs in place of the stand-in.',
    of: ['stack', 'tests'],
  },
  REAL_REALTIME: {
    about:
      'The folder of a release of supabase/realtime: it runs in place of the stand-in. What it listens on ' +
      'is open to every address of the machine; it cannot be told otherwise.',
    of: ['stack', 'tests'],
  },
  REAL_DATA_API: {
    about: 'The binary of PostgREST: it runs in place of the stand-in.',
    of: ['stack', 'tests'],
  },
  REAL_AUTH_PROXY: {
    about: 'A proxy over which the real Auth reaches Google, Apple and Turnstile.',
    of: ['stack'],
  },
  REAL_AUTH_CA: {
    about: 'The certificates, a PEM file, by which it knows them, in place of those of the system.',
    of: ['stack'],
  },
  GENERATORS: {
    about: 'A folder filled as in the nightly workflow: clients are generated and tried.',
    of: ['tests'],
  },
  REFRESH_TOKENS: {
    about:
      'The version of the refresh tokens of Auth, 1 or 2, as a hosted project may have either.',
    of: ['stack', 'tests'],
    default: '2',
  },
  ENVIRONMENT: { about: '`production` refuses to start.', of: ['stack'] },
  NODE_ENV: { about: '`production` refuses to start.', of: ['stack'] },
  SUPABASE_ACCESS_TOKEN: {
    about: 'A personal access token of your Supabase account.',
    of: ['deploy'],
    secret: true,
  },
  SUPABASE_PROJECT_ID: {
    about: 'The reference of the project: the first part of its address.',
    of: ['deploy'],
  },
  SUPABASE_DB_PASSWORD: {
    about: 'Of role `postgres`; without it the Management API lends a role for some minutes.',
    of: ['deploy'],
    secret: true,
  },
  SITE_URL: {
    about: "Auth's site URL, where the project has none: the address of your app or site.",
    of: ['deploy'],
  },
  ALLOW_TEST_PAYMENTS: {
    about: '`true` deploys with keys of payment providers that move no money.',
    of: ['deploy'],
  },
  SUPABASE_API_URL: {
    about: 'Another Management API.',
    of: ['deploy'],
    default: 'https://api.supabase.com',
  },
  SUPABASE_URL: {
    about:
      'The project; for deploy one at another address than its own, for tests one in place of ' +
      'an embedded stack, for the documentation the one that it names.',
    of: ['deploy', 'restore', 'docs', 'tests'],
  },
  SUPABASE_PUBLISHABLE_KEY: { about: 'Needed with `SUPABASE_URL`.', of: ['tests'] },
  SUPABASE_SECRET_KEY: {
    about: 'Needed with `SUPABASE_URL`.',
    of: ['restore', 'tests'],
    secret: true,
  },
  DATABASE_URL: {
    about: 'The database as `postgres`, by TLS where it is on another machine. Needed with ' +
      '`SUPABASE_URL`.',
    of: ['restore', 'tests'],
    secret: true,
  },
  DATABASE_CA: {
    about: 'Certificates (PEM) of who vouches for the database, where that is not Supabase.',
    of: ['deploy', 'restore', 'tests'],
  },
  API_URL: { about: 'Where the API is, if not at `SUPABASE_URL`.', of: ['restore'] },
  TAP_SECRET_KEY: {
    about: 'Tap: the API key, to compare its payments.',
    of: ['restore'],
    secret: true,
  },
  TAP_URL: { about: 'In place of Tap.', of: ['restore'], default: 'https://api.tap.company/v2' },
  INBOX_URL: {
    about: 'Where codes can be read (`GET /messages?to=`). Needed with `SUPABASE_URL`.',
    of: ['tests'],
  },
  ORACLE_SECONDS: {
    about:
      'For how many seconds random searches are compared with plain SQL; some are in any case.',
    of: ['tests'],
    default: '2',
  },
  ORACLE_LISTINGS: {
    about: 'Among how many listings of one place they are compared.',
    of: ['tests'],
    default: '4000',
  },
  NIGHTLY: {
    about:
      '`1` runs what is bulk as a whole: all rows, rounds and seconds, in place of a short form.',
    of: ['tests'],
  },
  LOCAL_STACK: { about: 'The folder of the embedded stack that they run on.', of: ['suite'] },
  SOCIAL_ISSUER_URL: { about: 'Who plays Google and Apple.', of: ['suite'] },
  TIMES: {
    about: '`exact` holds answers to the times that are promised, as `npm run test:timing` does.',
    of: ['suite'],
  },
  SLOW: {
    about:
      'The seed of `npm run test:slow`, set where things are slowed on purpose: promised times are left ' +
      'out, and limits are wider.',
    of: ['suite'],
  },
  RUN_BY: {
    about: 'The command that the suite was started with, by which a failed test is run again.',
    of: ['suite'],
    default: 'npm test --',
  },
  NEW_PROJECT: {
    about: 'A folder with a new project: every stack of a run begins with a copy of it.',
    of: ['suite'],
  },
  HELD_PROCESSES: {
    about: 'A folder that names the processes which tests have stopped themselves.',
    of: ['suite'],
  },
  NEWER_SCHEMA: {
    about:
      'Set by `npm run test:previous`: tests look past fields that the description does not have.',
    of: ['suite'],
  },
  REPETITIONS: { about: 'The file for what was tried again.', of: ['suite'] },
  SUMMARY: { about: 'The file for what passed and failed.', of: ['suite'] },
  CALLED_FUNCTIONS: { about: 'The file for which SQL functions were called.', of: ['suite'] },
  BY_DAY: {
    about: 'Set in a whole run by day, which leaves out the files of `test/suite/at-night.ts`.',
    of: ['suite'],
  },
  ANSWERED_CODES: {
    about: 'The file for which codes each operation answered.',
    of: ['suite'],
  },
  MET_EXAMPLES: {
    about: 'The file for requests and answers, of which docs/examples.json is made.',
    of: ['suite'],
  },
  USED_SECRETS: {
    about: 'The file for secrets that were used, which no log may hold.',
    of: ['suite'],
  },
} satisfies Record<string, Variable>

export type VariableName = keyof typeof declared

export const variables: Record<VariableName, Variable> = declared

export const variable = (
  name: VariableName,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined => env[name] || variables[name].default
