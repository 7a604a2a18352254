/** Passwords as people ask for them, reset and use them. */
import { guest } from '../support/client.ts'
import { refusal } from '../support/problems.ts'

export const reset = (identifier: string, code: string, newPassword: string, again = newPassword) =>
  guest.post('/auth/password/reset', { identifier, code, newPassword, confirmPassword: again })

export const wrong = refusal(401, 'invalid_credentials')

export const logIn = (identifier: string, password: string) =>
  guest.post('/auth/login', { identifier, password })
