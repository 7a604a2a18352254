import { onTestFinished } from 'vitest'
import { ChatSocket } from '../support/chat-socket.ts'
import type { Person } from '../support/client.ts'
import { mintToken } from '../support/tokens.ts'

export const closeAfterTest = (...sockets: ChatSocket[]) =>
  onTestFinished(() => sockets.forEach((socket) => socket.close()))

export async function socketOf(...args: Parameters<typeof ChatSocket.connect>) {
  const socket = await ChatSocket.connect(...args)
  closeAfterTest(socket)
  return socket
}

/** Opens a socket whose token expires in a few seconds (`exp`), or later if connecting is slow. */
export async function shortSocketOf(
  person: Pick<Person, 'accessToken'>,
  { seconds = 2, url }: { seconds?: number; url?: string } = {},
) {
  for (let life = seconds;; life *= 2) {
    const exp = Math.floor(Date.now() / 1000) + life
    const accessToken = mintToken(person.accessToken, { exp })
    try {
      return { socket: await socketOf({ accessToken }, url), accessToken, exp: exp * 1000 }
    } catch (error) {
      if (Date.now() < exp * 1000) throw error
    }
  }
}
