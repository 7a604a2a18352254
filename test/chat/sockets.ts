/** Sockets to the gateway, closed after each test of the file that imports this. */
import { afterEach } from 'vitest'
import { ChatSocket } from '../support/chat-socket.ts'

export const open: ChatSocket[] = []

afterEach(() => open.splice(0).forEach((socket) => socket.close()))

/** Opens a socket for somebody. */
export async function socketOf(...args: Parameters<typeof ChatSocket.connect>) {
  const socket = await ChatSocket.connect(...args)
  open.push(socket)
  return socket
}
