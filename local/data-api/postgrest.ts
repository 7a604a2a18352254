// Makes @supabase/lite 0.10.0 behave like PostgREST for strings passed as JSON arguments and for some errors.

type Functions = () => Promise<{ name: string; arg_names: string[]; arg_types: string[] }[]>
type Fetch = (request: Request) => Response | Promise<Response>
type PostgrestError = { code: string; message: string; details: string | null; hint: string | null }

const errorResponse = (
  status: number,
  code: string,
  message: string,
  details: string | null = null,
) => Response.json({ code, details, hint: null, message } satisfies PostgrestError, { status })

export async function asPostgrest(
  original: Request,
  fetch: Fetch,
  functions: Functions,
): Promise<Response> {
  const { pathname } = new URL(original.url)
  if (!isDecodable(pathname)) {
    return errorResponse(404, 'PGRST125', 'Invalid path specified in request URL')
  }
  const answer = await fetch(await withJsonStrings(original, functions))
  if (answer.status !== 500 && answer.status !== 404) return answer
  const { code, message, details }: Partial<PostgrestError> = await answer.clone().json().catch(
    () => ({}),
  )
  // SUP is the code of internal errors. Unless the connection failed, it means that the request is malformed.
  const [, stumbled] = /^(?:Type|URI|Range|Syntax)?Error: (.*)/s.exec(message ?? '') ?? []
  if (code === 'SUP' && stumbled !== undefined && !/connect|closed|timeout/i.test(stumbled)) {
    return errorResponse(
      400,
      'PGRST100',
      '"failed to parse the request" (line 1, column 1)',
      stumbled,
    )
  }
  const [, missing] = /^relation "(?:[^".]+\.)?([^"]*)" does not exist$/.exec(details ?? '') ?? []
  if (code !== 'PGRST205' || missing === undefined) return answer
  const from = pathname.split('/').at(-1)
  const between = `relationship between '${from}' and '${missing}' in the schema`
  return errorResponse(
    400,
    'PGRST200',
    `Could not find a ${between} cache`,
    `Searched for a foreign key ${between}, but no matches were found.`,
  )
}

/** Encodes strings passed as json arguments: PostgREST treats them as values and does not parse them. */
async function withJsonStrings(request: Request, functions: Functions): Promise<Request> {
  const [, name] = /\/rpc\/(\w+)$/.exec(new URL(request.url).pathname) ?? []
  if (request.method !== 'POST' || !name) return request
  const sent = await request.clone().json().catch(() => undefined)
  if (Object(sent) !== sent || Array.isArray(sent)) return request
  const named = (await functions()).filter((each) => each.name === name)
  const isJson = (argument: string) =>
    named.some((each) => /^jsonb?$/.test(each.arg_types[each.arg_names.indexOf(argument)] ?? ''))
  const body = Object.entries(sent).map((
    [argument, value],
  ) => [argument, typeof value === 'string' && isJson(argument) ? JSON.stringify(value) : value])
  return new Request(request, { body: JSON.stringify(Object.fromEntries(body)) })
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}
