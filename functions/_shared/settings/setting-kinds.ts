// The types of setting values. The deploy script validates a value before it uploads a setting, and the
// functions before they use it.

export type Kind = {
  /** Completes the sentence "NAME must be …". */
  says: string
  fits: (value: string) => boolean
  choices?: string[]
  /** The value is a comma-separated list. Every item must be valid. */
  list?: boolean
  /** The value is the content of a file. */
  content?: boolean
}

export const whole = (least: number, most = Infinity): Kind => ({
  says: most < Infinity
    ? `a whole number from ${least} to ${most}`
    : `a whole number, ${least} or more`,
  fits: (value) => /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most,
})

export const oneOf = (...choices: string[]): Kind => ({
  says: `one of ${choices.join(', ')}`,
  fits: (value) => choices.includes(value),
  choices,
})

export const flag = oneOf('true', 'false')

const isHttp = (url: URL) => /^https?:$/.test(url.protocol)
const plain = /^[^\s\\?#@]+$/

/** A base URL to which paths are appended. */
export const address: Kind = {
  says: 'an address that begins with https:// and has neither a query nor a name to sign in with',
  fits: (value) => plain.test(value) && URL.canParse(value) && isHttp(new URL(value)),
}

/** A URL that is called unchanged. It often has a secret in its query string. */
export const webhook: Kind = {
  says: 'an address that begins with https://, without a name to sign in with and without a #',
  fits: (value) => /^https?:\/\/[^\s\\@#]+$/.test(value) && URL.canParse(value),
}

const webhookPrefix = 'whsec_'

export const webhookSecret: Kind = {
  says: `${webhookPrefix} and 24 to 64 bytes in base64`,
  fits: (value) => {
    const { length } = bytesOf(value.slice(webhookPrefix.length))
    return value.startsWith(webhookPrefix) && length >= 24 && length <= 64
  },
}

export const shareUrl: Kind = {
  says: 'an address that begins with https:// and has {refNo} in it, once and behind the host',
  fits: (value) => {
    const [before, after, ...more] = value.split('{refNo}')
    return after !== undefined && !more.length && /^https:\/\/[^/?#@]+[/?#]/.test(before) &&
      URL.canParse(before) && /^[^\s\\"<>{}]+$/.test(before + after)
  },
}

export const pictureUrl: Kind = {
  says:
    'an address that begins with https:// and has {w} and {path} in it, each once and behind the host',
  fits: (value) => {
    const named = value.match(/\{[^}]*\}/g) ?? []
    return named.sort().join() === '{path},{w}' && /^https:\/\/[^/?#@{}]+\//.test(value) &&
      URL.canParse(value) && /^[^\s\\"<>]+$/.test(value)
  },
}

export const origins: Kind = {
  says:
    'origins as browsers send them, as https://your.site: without a path, a slash at the end, ' +
    'capital letters or the usual port',
  // In the URL standard, a custom app scheme has no origin; browsers send it unchanged.
  fits: (value) =>
    /^[a-z][a-z0-9+.-]*:\/\/[^\s\\/?#@*,]+$/.test(value) && URL.canParse(value) &&
    (!isHttp(new URL(value)) || new URL(value).origin === value),
  list: true,
}

// Schemes that browsers handle themselves, so no app can own them.
const browserSchemes =
  /^(https?|ftp|wss?|file|data|blob|javascript|vbscript|about|intent|view-source|filesystem):$/

export const isOfApp = ({ protocol, href }: URL) =>
  !browserSchemes.test(protocol) && href.startsWith(`${protocol}//`)

export const returnUrls: Kind = {
  says: 'addresses with https:// in front, or schemes of apps as myapp://',
  fits: (value) => {
    if (!plain.test(value) || !URL.canParse(value)) return false
    const url = new URL(value)
    return isHttp(url) && /^https?:\/\//.test(value) || isOfApp(url)
  },
  list: true,
}

export const clientIds: Kind = {
  says: 'ids with commas between',
  fits: (value) => /^[\w.:-]+$/.test(value),
  list: true,
}

/** The longest domain that fits into an Arabic SMS of one part (70 characters). */
const domainLength = 25

export const autofillDomain: Kind = {
  says:
    `a domain as your.site, without https://, of at most ${domainLength} characters: a code with a ` +
    'longer one would not fit one SMS',
  fits: (value) =>
    value.length <= domainLength && /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(value),
}

export const appHash: Kind = {
  says: 'the 11 characters by which Android knows the app',
  fits: (value) => /^[A-Za-z0-9+/]{11}$/.test(value),
}

export const mailAddress: Kind = {
  says: 'an address as codes@your.site, or a name with one: Your Site <codes@your.site>',
  fits: (value) =>
    /^([^<>@]+<[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+)$/
      .test(value),
}

const pem = (label: string, says: string): Kind => ({
  says: `${says} in PEM`,
  // Line breaks may be written as \n.
  fits: (value) =>
    new RegExp(`^-----BEGIN ${label}-----(\\s|\\\\n)[^]*-----END ${label}-----(\\s|\\\\n)*$`)
      .test(value),
  content: true,
})

export const certificates = pem('CERTIFICATE', 'certificates')
export const privateKey = pem('PRIVATE KEY', 'a private key')

export function missingInAccount(text: string): string[] {
  let given: Record<string, unknown> = {}
  try {
    given = Object(JSON.parse(text))
  } catch {
    // Not JSON: report all three fields as missing.
  }
  return ['project_id', 'client_email', 'private_key']
    .filter((name) => typeof given[name] !== 'string' || !given[name])
}

export const serviceAccount: Kind = {
  says: 'the JSON of a service account, with project_id, client_email and private_key',
  fits: (value) => missingInAccount(value).length === 0,
  content: true,
}

/** Decodes base64 to a binary string. Empty if the value is not valid base64. */
export function bytesOf(value: string): string {
  try {
    return atob(value)
  } catch {
    return ''
  }
}

export const key: Kind = {
  says: '32 bytes in base64',
  fits: (value) => bytesOf(value).length === 32,
}

const filePath =
  /^(file:|(\.{1,2}|~)?\/[\w.-]+|[a-z]:\\)|^[\w./\\-]+\.(json|pem|p8|p12|key|crt|cer|txt)$/i

/** Whether the value is the path of a file, given by mistake instead of the file's content. */
export const isFilePath = (value: string) => value.length < 300 && filePath.test(value)

export const items = (value = '') => value.split(',').map((word) => word.trim()).filter(Boolean)

/**
 * Describes an invalid value in a sentence that begins with the name of the setting. The value itself is left
 * out.
 */
export function wrongValue(name: string, kind: Kind | undefined, value: string) {
  if (!kind) return undefined
  const given = kind.list ? items(value) : [value]
  if (given.length && given.every(kind.fits)) return undefined
  return kind.content && isFilePath(value)
    ? `${name} is the path of a file: give what stands in the file.`
    : `${name} must be ${kind.says}.`
}
