import { chatPorts, type Stack } from '../config/stack.ts'

let turn = 0

/** Spread over the processes of the gateway in turn; without any the gateway is an edge function. */
export function chatPort(stack: Stack, url: string): number | undefined {
  if (!/^\/functions\/v1\/chat(?=[/?]|$)/.test(url)) return undefined
  const ports = chatPorts(stack)
  return ports[turn++ % ports.length]
}
