import { type Person, projectUrl, publishableKey } from './client.ts'

export async function callDataApi(
  { accessToken }: Pick<Person, 'accessToken'>,
  name: string,
  body: object = {},
  query = '',
) {
  const response = await fetch(`${projectUrl}/rest/v1/rpc/${name}${query}`, {
    method: 'POST',
    headers: {
      apikey: publishableKey,
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}
