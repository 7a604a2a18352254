/** A tab of an app in a browser, which does as the test says. */
import { createClient, type Input, isApiError } from 'kuwait-property-client'

type Listing = NonNullable<Input<'post', '/properties'>[0]>['body']

/** Opens it; `heard` is whom it heard to be signed in, and the acting identity. */
export function openTab(url: string) {
  let letGo = () => {}
  let held: Promise<void> | undefined
  const client = createClient({
    url,
    storage: localStorage,
    async fetch(input, init) {
      await held
      return await fetch(input, init)
    },
  })
  const heard: (string | null)[][] = []
  client.auth.onChange((session) =>
    heard.push(session ? [session.user.id, session.activeIdentity?.id ?? null] : [null, null])
  )
  let published: Promise<string> | undefined
  return {
    auth: client.auth,
    heard,
    /** Holds every request back from now on. */
    hold() {
      held = new Promise((resolve) => (letGo = resolve))
    },
    publish(body: Listing) {
      published = client.post('/properties', { body }).then(({ status }) => status, codeOf)
    },
    /** What came of it. */
    async outcome() {
      letGo()
      return await published
    },
  }
}

function codeOf(error: unknown): string {
  if (!isApiError(error)) throw error
  return error.code
}
