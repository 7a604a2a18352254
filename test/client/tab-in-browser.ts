import { createClient, type Input, isApiError } from 'kuwait-property-client'

type Listing = NonNullable<Input<'post', '/properties'>[0]>['body']

/** Opens the app; `heard` lists the users and acting identities that it was notified of. */
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
    hold() {
      held = new Promise((resolve) => (letGo = resolve))
    },
    publish(body: Listing) {
      published = client.post('/properties', { body }).then(({ status }) => status, codeOf)
    },
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
