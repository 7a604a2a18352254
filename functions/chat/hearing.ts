/**
 * Whether a Realtime message confirms that database events will now be delivered. Realtime's request to
 * reconnect also has status "ok".
 */
export const saysHearing = ({ extension, status, message }: Record<string, unknown>): boolean =>
  extension === 'system' && status === 'ok' && message !== 'Server requested disconnect'
