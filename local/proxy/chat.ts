import { chatPorts, type Stack } from '../config/stack.ts'

let turn = 0

/** Returns the port of the next gateway process (round robin), or undefined to use the edge function. */
export function chatPort(stack: Stack, url: string): number | undefined {
  if (!/^\/functions\/v1\/chat(?=[/?]|$)/.test(url)) return undefined
  const ports = chatPorts(stack)
  return ports[turn++ % ports.length]
}
