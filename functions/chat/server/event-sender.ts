import { errorBody } from '../../_shared/errors/error-body.ts'
import type { Refusal } from '../../_shared/errors/refusal.ts'
import { limits, type Outgoing, type Ref } from '../protocol.ts'
import { LoggedRefusal } from './database.ts'
import { errors } from './figures.ts'
import type { ClientSocket } from './socket.ts'

type Options = {
  english: boolean
  /** Called instead of sending if too much data is queued. */
  onOverflow: () => void
}

export class EventSender {
  private readonly socket: ClientSocket
  private readonly options: Options
  private stopped = false

  constructor(socket: ClientSocket, options: Options) {
    this.socket = socket
    this.options = options
  }

  send<Event extends keyof Outgoing>(event: Event, data: Outgoing[Event], ref?: Ref): void {
    if (this.stopped) return
    if (this.socket.bufferedBytes() > limits.bufferedBytes) return this.options.onOverflow()
    this.socket.send(JSON.stringify({ event, ...(ref !== undefined && { ref }), data }))
  }

  ack(ref: Ref | undefined, data: unknown): void {
    this.send('ack', data, ref)
  }

  error(refusal: Refusal, ref?: Ref): void {
    const requestId = refusal instanceof LoggedRefusal ? refusal.requestId : crypto.randomUUID()
    errors.add({ code: refusal.code })
    const { english } = this.options
    const error = errorBody(refusal.code, refusal.detail, { english, requestId })
    this.send('error', { ...error, ...(ref !== undefined && { ref }) }, ref)
  }

  /** Waits until the client has received most of the queued data. */
  async drained(): Promise<void> {
    while (!this.stopped && this.socket.bufferedBytes() > limits.bufferedBytes / 4) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  stop(): void {
    this.stopped = true
  }
}
