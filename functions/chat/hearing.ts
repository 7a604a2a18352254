/** Whether Realtime says that it now sends database events. Its request to reconnect has the same status. */
export const saysHearing = ({ extension, status, message }: Record<string, unknown>): boolean =>
  extension === 'system' && status === 'ok' && message !== 'Server requested disconnect'
