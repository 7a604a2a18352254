/**
 * Whether a `system` frame of Realtime says that the channel hears the database now. A server that asks
 * everybody to connect anew says so with the same status, and closes the socket.
 */
export const saysHearing = ({ extension, status, message }: Record<string, unknown>): boolean =>
  extension === 'system' && status === 'ok' && message !== 'Server requested disconnect'
