// All settings of the functions. The deploy script, the local stack and docs/settings.md also use this list.
import { providerSettings } from './provider-settings.ts'
import * as a from './setting-kinds.ts'

export type Setting = {
  about: string
  /** The value if the setting is missing. Settings that are required or that enable a feature have none. */
  default?: string
  /** The value must stay secret: whoever knows it can do harm. A value that is easy to guess is refused. */
  secret?: boolean
  is?: a.Kind
  /** Tells whoever deploys which feature is unavailable without this setting. */
  off?: string
  /**
   * Who provides the value: `deploy` (the deploy script), `platform` (Supabase), `stand-in` (tests, and other
   * environments than production) or `process` (the API or chat gateway running as its own process). If
   * absent, whoever deploys provides it.
   */
  by?: 'deploy' | 'platform' | 'stand-in' | 'process'
}

const declared = {
  SUPABASE_URL: {
    about: 'Where the project is.',
    by: 'platform',
    is: a.address,
  },
  SUPABASE_SECRET_KEYS: {
    about: "The project's secret keys, JSON by name.",
    secret: true,
    by: 'platform',
  },
  SUPABASE_PUBLISHABLE_KEYS: {
    about: "The project's publishable keys, JSON by name.",
    by: 'platform',
  },
  ENVIRONMENT: {
    about: '`production` switches every fall-back for development off; else `local` or `test`.',
    default: 'production',
    by: 'deploy',
    is: a.oneOf('production', 'local', 'test'),
  },
  SB_REGION: {
    about:
      'Where it runs, which every line of the log says; a process of its own may be given one.',
    by: 'platform',
  },
  CODE_SECRET: {
    about: 'HMAC key of one-time codes, 32 bytes in base64.',
    secret: true,
    by: 'deploy',
    is: a.key,
  },
  SEAL_KEY: {
    about:
      'AES key of what is kept sealed (passwords of registrations, tokens of Apple), 32 bytes ' +
      'in base64.',
    secret: true,
    by: 'deploy',
    is: a.key,
  },
  FACADE_DB_URL: {
    about: 'The database as role `facade`, through the transaction pooler: ' +
      '`postgresql://facade.<ref>:…@<pooler>:6543/postgres`. Verified by TLS always; a URL that ' +
      'asks for less is refused.',
    secret: true,
    by: 'deploy',
  },
  FACADE_READ_DB_URL: {
    about:
      'Read replicas, with commas between, each as `FACADE_DB_URL`: guests are shown what they have while ' +
      'it is at most 5 s old ([scale.md](scale.md)).',
    secret: true,
  },
  FACADE_DB_POOL: {
    about:
      'Connections of one worker to the database and to each replica, and one more for health and alarms; ' +
      'idle ones go after 10 s. All share those of the pooler.',
    default: '3',
    is: a.whole(1),
  },
  DATABASE_CA: {
    about:
      'Certificates (PEM, line breaks as `\\n`) of who vouches for the database, where that is ' +
      'not Supabase.',
    is: a.certificates,
  },
  CLIENT_IP_HOPS: {
    about: 'Which entry of `X-Forwarded-For`, counted from the right, is the client.',
    default: '1',
    by: 'deploy',
    is: a.whole(1, 9),
  },
  API_URL: {
    about: 'Where clients and payment providers reach the API, if not at `SUPABASE_URL`.',
    is: a.address,
  },
  FILES_URL: {
    about: 'Where public files are reached, if not at `SUPABASE_URL`.',
    is: a.address,
  },
  SHARE_URL: {
    about:
      'Where a listing is passed on, as `https://your.site/p/{refNo}`: `shareUrl` of its record.',
    is: a.shareUrl,
    off: 'records of listings have no shareUrl',
  },
  PICTURE_URL: {
    about:
      'Where pictures are made smaller, as `https://img.your.site/width={w}/{path}` or, by Storage itself, ' +
      '`https://<ref>.supabase.co/storage/v1/render/image/public/{path}?width={w}&resize=contain`.',
    is: a.pictureUrl,
    off: 'apps load every picture as it was stored',
  },
  AUTH_ISSUER: {
    about: 'Who issues access tokens (`iss`), if not Auth at `SUPABASE_URL`.',
    is: a.address,
  },
  RETURN_URLS: {
    about: 'Where people may come back to after paying, with commas between: addresses with what ' +
      'lies under them, or the scheme of an app (`myapp://`).',
    is: a.returnUrls,
  },
  CORS_ORIGINS: {
    about: 'Exact origins of web apps, with commas between; outside production also every one of ' +
      'localhost.',
    is: a.origins,
    off: 'pages in browsers cannot call the API',
  },
  METRICS_TOKEN: {
    about:
      'What `GET /metrics` is read with (`Authorization: Bearer …`): figures for Prometheus of the ' +
      'database, and of a process that stays. Without it there is no such route.',
    secret: true,
  },
  ALARM_WEBHOOK: {
    about:
      'Where alarms are sent, too, within a minute and again for a day (`POST`; format and signature below).',
    secret: true,
    is: a.webhook,
    off: 'alarms reach administrators in the app and by its pushes alone',
  },
  ALARM_WEBHOOK_FORMAT: {
    about:
      '`json` (Standard Webhooks: `alarm.raised` with kind, subject and details), `slack` or `teams` (a ' +
      'line of text for an incoming webhook or a workflow).',
    default: 'json',
    is: a.oneOf('json', 'slack', 'teams'),
  },
  ALARM_WEBHOOK_SECRET: {
    about: 'What alarms are signed with as Standard Webhooks (`whsec_…`); `json` needs it.',
    secret: true,
    is: a.webhookSecret,
  },
  DOCS_URL: {
    about: 'Where the documentation lies that `npm run docs` writes: `/docs` leads there.',
    is: a.address,
    off: '/docs leads nowhere',
  },
  HTML_PAGES: {
    about: '`true` under a custom domain: elsewhere hosted functions turn HTML into text.',
    default: 'false',
    is: a.flag,
  },
  GUEST_CACHE: {
    about: '`true` lets caches in front keep what guests read (`Cache-Control: public`, for the ' +
      'seconds in the contract); with `false` every answer is `private, no-store`.',
    default: 'true',
    is: a.flag,
  },
  READ_RATE: {
    about:
      'Reads a minute for one account or address in one worker, half as many counts of searches, and for an ' +
      'address five times as many suggestions; 0 is no limit.',
    default: '240',
    is: a.whole(0),
  },
  REFUSAL_RATE: {
    about: 'Writes a minute that may be refused to one account or address in one worker; 0 is no ' +
      'limit.',
    default: '600',
    is: a.whole(0),
  },
  SMS_PER_DAY: {
    about:
      'SMS in a day of Asia/Kuwait, and a twelfth of it in an hour; the last fifth of either ' +
      'goes to known addresses only. 0 is no limit.',
    default: '20000',
    is: a.whole(0),
  },
  JWKS_MAX_AGE: {
    about: 'Seconds for which fetched signing keys serve.',
    default: '60',
    is: a.whole(0),
  },
  GATEWAY_MAX_AGE: {
    about:
      'Chat gateway: seconds a socket lives at most, then it is closed with 1012. Without it 140 in a worker, just less than ' +
      'one lives on the smallest plan (380 fits from Pro on), and no end in a process of its own.',
    default: '0',
    is: a.whole(0),
  },
  GATEWAY_MESSAGES: {
    about: 'Chat gateway: messages a second of one socket; 0 is no limit.',
    default: '5',
    is: a.whole(0),
  },
  GATEWAY_SOCKETS: {
    about: 'Chat gateway: sockets of one account in one process; a further one ends the oldest.',
    default: '10',
    is: a.whole(1),
  },
  GATEWAY_JOINS: {
    about: "Chat gateway: joins a second at Realtime; the plan's, less what apps join themselves.",
    default: '50',
    is: a.whole(2),
  },
  HOST: {
    about: 'The address that it listens on.',
    default: '0.0.0.0',
    by: 'process',
  },
  PORT: {
    about: 'The port that it listens on.',
    default: '8080',
    by: 'process',
    is: a.whole(0, 65535),
  },
  SMS_PROVIDER: {
    about: '`twilio` (with `SMS_ACCOUNT_SID`, `SMS_AUTH_TOKEN`, `SMS_SENDER`), `kwtsms` ' +
      '(`SMS_USERNAME`, `SMS_PASSWORD`, `SMS_SENDER`) or `unifonic` (`SMS_APP_SID`, `SMS_SENDER`).',
    is: a.oneOf(...Object.keys(providerSettings.SMS_PROVIDER)),
    off: 'nobody registers by phone or gets a code by SMS',
  },
  ALLOW_NO_SMS: {
    about:
      '`true` says that no SMS is wanted: without it a production that cannot send one is not ' +
      'deployed, and `/health` is degraded.',
    default: 'false',
    is: a.flag,
  },
  SMS_ACCOUNT_SID: { about: 'Twilio.' },
  SMS_AUTH_TOKEN: { about: 'Twilio.', secret: true },
  SMS_USERNAME: { about: 'kwtSMS.' },
  SMS_PASSWORD: { about: 'kwtSMS.', secret: true },
  SMS_APP_SID: { about: 'Unifonic.', secret: true },
  SMS_SENDER: { about: 'The name or number that an SMS comes from.' },
  SMS_ANDROID_HASH: {
    about:
      'The hash of the Android app (SMS Retriever): a code asked for with `smsFor: "android"` ends ' +
      'with it, and the app reads it.',
    is: a.appHash,
  },
  SMS_AUTOFILL_DOMAIN: {
    about:
      'The domain of the web app: a code asked for with `smsFor: "web"` ends with `@domain #code`, and ' +
      'browsers of that domain offer it.',
    is: a.autofillDomain,
  },
  MAIL_PROVIDER: {
    about: '`resend` or `postmark`, with `MAIL_API_KEY` and `MAIL_FROM`.',
    is: a.oneOf(...Object.keys(providerSettings.MAIL_PROVIDER)),
    off: 'nobody gets a code by mail',
  },
  MAIL_API_KEY: { about: 'Resend or Postmark.', secret: true },
  MAIL_FROM: {
    about: 'The address that mail comes from.',
    is: a.mailAddress,
  },
  PAYMENT_PROVIDER: {
    about: 'Who takes new charges: `tap` (with `TAP_SECRET_KEY`) or `myfatoorah` ' +
      '(`MYFATOORAH_TOKEN`, `MYFATOORAH_WEBHOOK_SECRET`); `sandbox` outside production. Webhooks of ' +
      'all that are configured are taken.',
    is: a.oneOf(...Object.keys(providerSettings.PAYMENT_PROVIDER)),
    off: 'nobody can pay',
  },
  TAP_SECRET_KEY: { about: 'Tap: the API key, which also signs webhooks.', secret: true },
  TAP_SECRET_KEY_OLD: { about: 'Tap: the key before, while it is being changed.', secret: true },
  TAP_SOURCE: { about: 'Tap: which ways to pay it offers.', default: 'src_all' },
  MYFATOORAH_TOKEN: { about: 'MyFatoorah: the API key.', secret: true },
  MYFATOORAH_WEBHOOK_SECRET: { about: 'MyFatoorah: what signs webhooks.', secret: true },
  MYFATOORAH_WEBHOOK_SECRET_OLD: {
    about: 'MyFatoorah: the one before, while it is being changed.',
    secret: true,
  },
  MYFATOORAH_MODE: {
    about: 'MyFatoorah: `live` or `test`.',
    default: 'test',
    is: a.oneOf('live', 'test'),
  },
  FCM_SERVICE_ACCOUNT: {
    about: 'The JSON of a Firebase service account; without it pushes wait in ' +
      '`private.push_outbox` for a day.',
    secret: true,
    is: a.serviceAccount,
    off: 'no push is sent',
  },
  GOOGLE_CLIENT_IDS: {
    about: 'Ids of all apps and sites, with commas between.',
    is: a.clientIds,
    off: 'no sign-in with Google',
  },
  APPLE_CLIENT_IDS: {
    about: 'Ids of all apps and sites, with commas between.',
    is: a.clientIds,
    off: 'no sign-in with Apple',
  },
  APPLE_TEAM_ID: { about: 'Sign in with Apple: whose key it is.' },
  APPLE_KEY_ID: { about: 'Sign in with Apple: which key it is.' },
  APPLE_PRIVATE_KEY: {
    about:
      'Sign in with Apple: the key (PEM, line breaks as `\\n`), by which a deleted account is ' +
      'revoked there.',
    secret: true,
    is: a.privateKey,
    off: 'deleted accounts are not revoked at Apple',
  },
  INBOX_URL: { about: 'The local inbox, which shows what was sent.', by: 'stand-in' },
  SANDBOX_SECRET: {
    about: 'What the sandbox of payments signs with.',
    secret: true,
    by: 'stand-in',
  },
  PATIENCE: {
    about:
      'How many times as long a search, a count and a request wait for their turn, for the database and for ' +
      'services outside, and an answer for the rest of a body, so that a slow machine is not taken for a ' +
      'busy one.',
    default: '1',
    by: 'stand-in',
    is: a.whole(1),
  },
  SMS_URL: { about: 'In place of the SMS provider.', by: 'stand-in' },
  MAIL_URL: { about: 'In place of the mail provider.', by: 'stand-in' },
  TAP_URL: { about: 'In place of Tap.', by: 'stand-in' },
  MYFATOORAH_URL: { about: 'In place of MyFatoorah.', by: 'stand-in' },
  FCM_URL: { about: 'In place of Google, for pushes.', by: 'stand-in' },
  APPLE_URL: { about: 'In place of Apple.', by: 'stand-in' },
  APPLE_JWKS_URL: { about: "In place of Apple's keys.", by: 'stand-in' },
  GOOGLE_JWKS_URL: { about: "In place of Google's keys.", by: 'stand-in' },
} satisfies Record<string, Setting>

export type SettingName = keyof typeof declared

export const settings: Record<SettingName, Setting> = declared
