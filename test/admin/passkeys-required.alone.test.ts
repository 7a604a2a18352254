// The setting applies to every administrator, so the test runs alone.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { addPasskey, browser, byPassword, Passkey, proveBy } from '../support/passkeys.ts'
import { refusal, unknownId } from '../support/problems.ts'
import { edit } from './studio.ts'

const set = (value: string) =>
  edit('private.settings', 'admin_passkeys', { value: JSON.stringify(value) }, 'name')

beforeAll(() => set('required'))
afterAll(() => set('optional'))

test('ADM-32 where passkeys are required, a password adds the first one and does nothing more', async () => {
  const admin = await signUpAdmin()
  const proves = (proof: string) =>
    browser(admin, proof).delete(`/admin/users/${unknownId}`, { reason: 'تم التحقق' })
  const proof = await byPassword(admin)
  expect(await proves(proof)).toMatchObject(refusal(403, 'passkey_required'))
  expect(await proves('none')).toMatchObject(refusal(403, 'proof_required'))
  const passkey = new Passkey()
  expect((await addPasskey(admin, passkey, proof)).status).toBe(201)
  const { body } = await proveBy(admin, passkey)
  expect(await proves(body.proof)).toMatchObject(refusal(404, 'user_not_found'))
})
