// Opens many sockets at the chat gateway, for CHAT-10. Their tokens are signed with
// the embedded stack's own key.
import { isNightly } from '../support/nightly.ts'
import { pause } from '../support/wait.ts'
import { ChatSocket, upTo } from '../support/chat-socket.ts'
import { caller, database, type Guest, signUp } from '../support/client.ts'
import { RawSocket, upgradeHead } from '../support/raw-socket.ts'
import { mintToken } from '../support/tokens.ts'

export type SignedIn = Guest & { identityId: string; accessToken: string }

/**
 * Creates people with sessions without signing them in: inserts the rows and signs
 * tokens with the project's key.
 */
export async function signedInPeople(count: number): Promise<SignedIn[]> {
  const { accessToken } = await signUp()
  const { rows: sessions } = await database().query(
    `with made as (
       insert into auth.users (id, instance_id, aud, role, email, raw_app_meta_data,
         raw_user_meta_data, created_at, updated_at, encrypted_password)
       select gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 'authenticated',
         'authenticated', gen_random_uuid() || '@example.com', '{}',
         '{"full_name": "دلال الكندري"}', now(), now(), ''
       from generate_series(1, $1::integer)
       returning id
     )
     insert into auth.sessions (id, user_id, created_at, updated_at)
     select gen_random_uuid(), made.id, now(), now() from made
     returning id`,
    [count],
  )
  const { rows } = await database().query(
    `select sessions.id, sessions.user_id, accounts.active_identity_id from auth.sessions
     join public.accounts on accounts.id = sessions.user_id
     where sessions.id = any ($1)`,
    [sessions.map(({ id }) => id)],
  )
  return rows.map(({ id, user_id, active_identity_id: identityId }) => {
    const token = mintToken(accessToken, { sub: user_id, session_id: id })
    return { ...caller(token), identityId, accessToken: token }
  })
}

async function inTens<T>(count: number, open: (i: number) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  while (all.length < count) {
    const some = Math.min(10, count - all.length)
    const at = all.length
    all.push(...await Promise.all(upTo(some).map((i) => open(at + i - 1))))
  }
  return all
}

function openSlowly(url: string): RawSocket {
  const raw = new RawSocket(url)
  void (async () => {
    for (const byte of upgradeHead(new URL(url).pathname)) {
      raw.write(Buffer.from(byte))
      await pause(1000, 'time is the subject')
      if (raw.ended) return
    }
  })()
  return raw
}

export async function fillGateway(url: string, whole = isNightly) {
  const of = (all: number, part: number) => whole ? all : part
  const one = await signUp()
  const accounts = await signedInPeople(500)
  const idle = await inTens(of(2000, 500), (i) => ChatSocket.connect(accounts[i % 500]!, url))
  const same = await inTens(of(200, 50), () => ChatSocket.connect(one, url))
  const silent = await inTens(of(500, 100), () => RawSocket.open(url))
  const slow = upTo(of(500, 100)).map(() => openSlowly(url))
  const close = () => {
    for (const socket of [...idle, ...same]) socket.close()
    for (const raw of [...silent, ...slow]) raw.destroy()
  }
  return { idle, same, silent, slow, close }
}
