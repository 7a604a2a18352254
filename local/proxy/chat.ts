import { chatPorts, type Stack } from '../config/stack.ts'

let turn = 0

/**
 * The port for an upgrade to the chat gateway: sockets are spread over its processes in turn.
 * Without such a process it is an edge function like the others.
 */
export function chatPort(stack: Stack, url: string): number | undefined {
  if (!/^\/functions\/v1\/chat(?=[/?]|$)/.test(url)) return undefined
  const ports = chatPorts(stack)
  return ports[turn++ % ports.length]
}
