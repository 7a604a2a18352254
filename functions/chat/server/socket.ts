import type { HttpRefusal } from './http-refusal.ts'

export type ClientSocket = {
  send(text: string): void
  /** Closes after pending data is sent, unless the client does not read. */
  close(code: number, reason: string): void
  /** Bytes that the client has not taken yet. */
  bufferedBytes(): number
}

export type SocketHandler = {
  /** Called for one message at a time, when the previous promise has resolved. It never rejects. */
  message(text: string): Promise<void>
  closed(): void
}

export type UpgradeRequest = { path: string; query: URLSearchParams; headers: Headers }

export type UpgradeDecision =
  | HttpRefusal
  | { open: (socket: ClientSocket) => SocketHandler }
