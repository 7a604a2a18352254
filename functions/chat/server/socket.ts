import type { HttpRefusal } from './http-refusal.ts'

export type ClientSocket = {
  send(text: string): void
  /** Closes the socket once queued data has been sent, unless the client is not reading. */
  close(code: number, reason: string): void
  /** The number of bytes queued for the client. */
  bufferedBytes(): number
}

export type SocketHandler = {
  /** Called for one message at a time, after the previous promise has resolved. Never rejects. */
  message(text: string): Promise<void>
  closed(): void
}

export type UpgradeRequest = { path: string; query: URLSearchParams; headers: Headers }

export type UpgradeDecision =
  | HttpRefusal
  | { open: (socket: ClientSocket) => SocketHandler }
