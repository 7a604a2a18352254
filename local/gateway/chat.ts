import { chatPorts, type Stack } from '../stack.ts'

let turn = 0

/** The port of the chat gateway whose turn it is: sockets are spread over its processes. */
export function chatPort(stack: Stack): number {
  const ports = chatPorts(stack)
  // With no process of its own the gateway is an edge function like the others.
  return ports[turn++ % ports.length] ?? stack.ports.functions
}

/** Whether an upgrade is meant for the chat gateway. */
export const isChat = (url: string) => /^\/functions\/v1\/chat(?=[/?]|$)/.test(url)
