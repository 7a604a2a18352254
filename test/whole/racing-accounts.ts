import { randomInt, randomUUID } from 'node:crypto'
import type { Action, Side } from './racing-actions.ts'
import { formField, pictureForm } from './racing-listings.ts'
import { database, newEmail, newPhone, signIn } from '../support/client.ts'
import { ageCodes, registerPhone, requestResetCode } from '../support/codes.ts'
import { bearer } from '../support/races.ts'
import { claims, type Provider, token } from '../support/social-issuer.ts'
import { partsOf } from '../support/tokens.ts'
import { pdf } from '../support/pdf.ts'
import { uploadDocuments } from '../support/uploads.ts'

/** A provider sign-in by the owner of an email, which takes over the account registered with that email. */
const takenOver = (provider: Provider): Action => async ({ identifier, id }) => {
  await database().query('update public.accounts set email_proven = false where id = $1', [id])
  const idToken = await token(provider, claims(provider, { email: identifier, sub: id }))
  return { path: `/auth/${provider}`, body: { idToken } }
}

/** The first provider sign-in by the owner of a proven email. */
const linked = (provider: Provider): Action => async ({ identifier, id }) => ({
  path: `/auth/${provider}`,
  body: { idToken: await token(provider, claims(provider, { email: identifier, sub: id })) },
})

async function newDocument(by: Side): Promise<string> {
  const { body } = await uploadDocuments(by, by.company, [pdf(randomUUID())])
  return body.files[0].documentId
}

const again = ({ identifier, password }: Side) => signIn(identifier, password)

export const accountActions: Record<string, Action> = {
  register: () => ({
    path: '/auth/register',
    body: { identifier: newEmail(), password: randomUUID(), fullName: 'نورة السالم' },
  }),
  registerPhone: () => ({
    path: '/auth/register/individual',
    body: { identifier: newPhone(), password: randomUUID() },
  }),
  verify: async () => {
    const { phone, code, registrationId } = await registerPhone()
    return { path: '/auth/register/verify-otp', body: { identifier: phone, code, registrationId } }
  },
  resend: async ({ identifier }) => {
    await ageCodes(identifier, 3600)
    return { path: '/auth/otp/resend', body: { identifier, purpose: 'delete' } }
  },
  login: ({ identifier, password }) => ({ path: '/auth/login', body: { identifier, password } }),
  refresh: async (by) => ({
    path: '/auth/refresh',
    body: { refreshToken: (await again(by)).refreshToken },
  }),
  logout: async (by) => ({
    path: '/auth/logout',
    body: {},
    headers: [bearer(await again(by))],
  }),
  logoutOthers: async (by) => ({
    path: '/auth/logout',
    body: { scope: 'others' },
    headers: [bearer(await again(by))],
  }),
  endSession: async (by) => {
    const other = partsOf((await again(by)).accessToken).claims.session_id
    return { method: 'DELETE', path: `/auth/sessions/${other}` }
  },
  google: takenOver('google'),
  apple: takenOver('apple'),
  linkGoogle: linked('google'),
  linkApple: linked('apple'),
  forgot: async ({ identifier }) => {
    await ageCodes(identifier, 3600)
    return { path: '/auth/password/forgot', body: { identifier } }
  },
  reset: async ({ identifier }) => {
    await ageCodes(identifier, 3600)
    const [code, password] = [await requestResetCode(identifier), randomUUID()]
    return {
      path: '/auth/password/reset',
      body: { identifier, code, newPassword: password, confirmPassword: password },
    }
  },
  beginPhone: ({ password }) => ({
    path: '/auth/me/phone',
    body: { phone: newPhone(), currentPassword: password },
  }),
  beginEmail: ({ password }) => ({
    path: '/auth/me/email',
    body: { email: newEmail(), currentPassword: password },
  }),
  password: ({ password }) => ({
    path: '/auth/password/change',
    body: { currentPassword: password, newPassword: randomUUID() },
  }),
  leave: async ({ id, office, password }) => {
    await database().query(
      `select private.move_money(wallets.id, private.system_account('adjustments'), wallets.balance,
         'adjustment', 'adjustment', gen_random_uuid())
       from public.wallets
       where wallets.identity_id = $1 and wallets.part = 'available' and wallets.balance > 0`,
      [office],
    )
    await database().query(
      `update public.invoices set state = 'failed' where account_id = $1 and state = 'processing'`,
      [id],
    )
    return { path: '/auth/me/delete', body: { password } }
  },
  me: () => ({ method: 'PATCH', path: '/auth/me', body: { fullName: 'سالم بن فهد' } }),
  avatar: () => ({ path: '/media/upload/avatar', ...pictureForm('file') }),
  settings: () => ({
    method: 'PATCH',
    path: '/settings',
    body: { language: 'en', privacy: { showPhone: randomInt(2) === 1 } },
  }),
  identity: () => ({
    path: '/auth/identities',
    body: {
      type: 'company',
      nameAr: 'شركة جديدة',
      licenceNo: randomUUID().slice(0, 18).toUpperCase(),
      licenceExpiresOn: '2040-01-01',
    },
  }),
  changeIdentity: ({ company }) => ({
    method: 'PATCH',
    path: `/auth/identities/${company}`,
    body: { aboutAr: randomUUID() },
  }),
  closeIdentity: async ({ office, password }) => {
    await database().query(
      `update public.reports set status = 'dismissed'
       where reported_identity_id = $1 and status = 'open'`,
      [office],
    )
    return { path: `/auth/identities/${office}/close`, body: { password, money: 'refund' } }
  },
  keepIdentity: ({ office }) => ({ method: 'DELETE', path: `/auth/identities/${office}/close` }),
  document: ({ company }) => ({
    path: '/media/upload/documents',
    ...pictureForm('files', formField('identityId', company)),
  }),
  deleteDocument: async (by) => ({
    method: 'DELETE',
    path: `/auth/identities/${by.company}/documents/${await newDocument(by)}`,
  }),
  switch: ({ identityId }) => ({ path: '/auth/identity/switch', body: { identityId } }),
  back: ({ office }) => ({ path: '/auth/identity/switch', body: { identityId: office } }),
}
