/** A client's socket as the gateway sees it, the same on Node and in an edge function. */
import type { HttpRefusal } from './http-refusal.ts'

export type ClientSocket = {
  send(text: string): void
  /** Closes after what was sent before, unless the client does not read. */
  close(code: number, reason: string): void
  /** Bytes that the client has not taken yet. */
  bufferedBytes(): number
}

export type SocketHandler = {
  /** One message at a time: the next one comes when the promise is settled. It never rejects. */
  message(text: string): Promise<void>
  closed(): void
}

export type UpgradeRequest = { path: string; query: URLSearchParams; headers: Headers }

/** An upgrade is refused by HTTP, or it becomes a socket. */
export type UpgradeDecision =
  | HttpRefusal
  | { open: (socket: ClientSocket) => SocketHandler }
