import { chatPorts, type Stack } from '../stack/stack.ts'

let turn = 0

/**
 * The port of the chat gateway whose turn it is, for an upgrade that is meant for it: sockets are
 * spread over its processes. Without one it is an edge function like the others.
 */
export function chatPort(stack: Stack, url: string): number | undefined {
  if (!/^\/functions\/v1\/chat(?=[/?]|$)/.test(url)) return undefined
  const ports = chatPorts(stack)
  return ports[turn++ % ports.length]
}
