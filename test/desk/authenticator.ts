// Chromium's virtual authenticator. It acts like one built into the device, and its
// user confirms every request.
import type { Page } from 'playwright-core'
import { type Person, projectUrl } from '../support/client.ts'
import { deskOrigin } from './built.ts'
import { serve } from './desk.ts'

const options = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const

export async function addAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options })
  const credentials = async () =>
    (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  return {
    credentials,
    /** Opens a copy of the desk at another origin, in a tab whose authenticator has the same passkeys. */
    async copiedTo(origin: string, { accessToken }: Person): Promise<Page> {
      const copy = await page.context().newPage()
      await serve(copy, origin)
      // The attacker has the token, and forwards the copy's requests as if they came from the desk.
      await copy.route(`${projectUrl}/**`, async (route) => {
        const open = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
        if (route.request().method() === 'OPTIONS') return await route.fulfill({ headers: open })
        const headers = { authorization: `Bearer ${accessToken}`, origin: deskOrigin }
        const response = await route.fetch({ headers })
        await route.fulfill({ response, headers: { ...response.headers(), ...open } })
      })
      await copy.goto(origin)
      const other = await copy.context().newCDPSession(copy)
      await other.send('WebAuthn.enable')
      const added = await other.send('WebAuthn.addVirtualAuthenticator', { options })
      for (const credential of await credentials()) {
        await other.send('WebAuthn.addCredential', {
          authenticatorId: added.authenticatorId,
          credential,
        })
      }
      return copy
    },
  }
}
