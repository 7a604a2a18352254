import { describe, expect, test } from 'vitest'
import { database } from '../../test/support/client.ts'
import { ageRefreshTokens } from '../../test/support/codes.ts'
import { auth, bearer, refresh, signedIn } from './support/client.ts'

describe('refreshing', () => {
  test('gives a new token each time, of the same session', async () => {
    const { session, id } = await signedIn()
    const first = await refresh(session.refresh_token)
    const second = await refresh(first.body.refresh_token)
    expect([first.status, second.status]).toEqual([200, 200])
    const tokens = [session.refresh_token, first.body.refresh_token, second.body.refresh_token]
    expect(new Set(tokens).size).toBe(3)
    const { rows } = await database().query('select id from auth.sessions where user_id = $1', [id])
    expect(rows).toHaveLength(1)
  })

  test('with the previous token returns the current one, as its answer was lost', async () => {
    const { session } = await signedIn()
    const { body } = await refresh(session.refresh_token)
    const again = await refresh(session.refresh_token)
    expect(again.status).toBe(200)
    expect(again.body.refresh_token).toBe(body.refresh_token)
  })

  test('twenty times at once succeeds for all, with one token at the end', async () => {
    const { session } = await signedIn()
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => refresh(session.refresh_token)),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(new Set(replies.map(({ body }) => body.refresh_token)).size).toBe(1)
    expect((await refresh(replies[0].body.refresh_token)).status).toBe(200)
  })

  test('with an old token ends the session', async () => {
    const { session, id } = await signedIn()
    const second = await refresh(session.refresh_token)
    const third = await refresh(second.body.refresh_token)
    await ageRefreshTokens(id)
    const reused = await refresh(session.refresh_token)
    expect(reused.status).toBe(400)
    expect(reused.body.error_code).toBe('refresh_token_already_used')
    expect((await refresh(third.body.refresh_token)).status).toBe(400)
  })

  test('rejects what is not a refresh token', async () => {
    expect((await refresh('abcdefghijkl')).body.error_code).toBe('refresh_token_not_found')
    expect((await refresh('nonsense')).body.error_code).toBe('validation_failed')
    const { session } = await signedIn()
    const last = session.refresh_token.at(-2) === 'A' ? 'B' : 'A'
    const bent = session.refresh_token.slice(0, -2) + last + session.refresh_token.at(-1)
    expect((await refresh(bent)).status).toBe(400)
    expect((await refresh(session.refresh_token)).status).toBe(200)
  })
})

describe('signing out', () => {
  test('ends this session, the others, or all', async () => {
    const { session, signIn } = await signedIn()
    const [second, third] = [await signIn(), await signIn()]
    const works = async ({ access_token }: { access_token: string }) =>
      (await auth('GET', '/user', undefined, bearer(access_token))).status === 200
    const out = (scope: string, token: string) =>
      auth('POST', `/logout?scope=${scope}`, undefined, bearer(token))
    expect((await out('nowhere', session.access_token)).status).toBe(400)
    expect((await out('local', session.access_token)).status).toBe(204)
    expect([await works(session), await works(second)]).toEqual([false, true])
    expect((await refresh(session.refresh_token)).status).toBe(400)
    expect((await out('others', second.access_token)).status).toBe(204)
    expect([await works(second), await works(third)]).toEqual([true, false])
    expect((await out('global', second.access_token)).status).toBe(204)
    expect(await works(second)).toBe(false)
  })
})
