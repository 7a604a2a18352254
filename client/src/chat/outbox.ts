// Sends messages one after another. Each stays in the storage until the server has stored or refused it.
import type { Message, NewMessage } from '../../../functions/chat/protocol.ts'
import type { Client } from '../client.ts'
import { type ApiError } from '../errors.ts'

type Options = {
  client: Client
  /** Sends a message, and retries until the server has stored it or refused it for good. */
  deliver: (message: NewMessage) => Promise<Message>
  /** Called when the server has refused a message for good. */
  refused: (message: NewMessage, error: unknown) => void
}

type Waiting = {
  message: NewMessage
  /** The waiting caller; undefined for a message from before the app was restarted. */
  sender?: { resolve: (stored: Message) => void; reject: (error: unknown) => void }
}

export class Outbox {
  private readonly options: Options
  private readonly loaded: Promise<void>
  private waiting: Waiting[] = []
  private key: string | undefined
  private stored: Promise<void>
  private working = false
  private ended: ApiError | undefined

  constructor(options: Options) {
    this.options = options
    this.loaded = this.stored = this.load()
    void this.loaded.then(() => this.work())
  }

  send(message: NewMessage): Promise<Message> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(this.ended)
      this.waiting.push({ message, sender: { resolve, reject } })
      this.store((messages) => [...messages, message])
      void this.work()
    })
  }

  async unsent(): Promise<NewMessage[]> {
    await this.loaded
    return this.waiting.map(({ message }) => message)
  }

  /** Stops sending and rejects the waiting calls. Their messages stay in the storage. */
  close(failure: ApiError): void {
    this.ended = failure
    for (const { sender } of this.waiting) sender?.reject(failure)
    this.waiting = []
  }

  /**
   * Sends the messages one after another, so that the server stores them in the order in which they were
   * written.
   */
  private async work(): Promise<void> {
    await this.loaded
    if (this.working) return
    this.working = true
    for (let next; (next = this.waiting[0]) && !this.ended;) await this.sendOne(next)
    this.working = false
  }

  private async sendOne({ message, sender }: Waiting) {
    try {
      const stored = await this.options.deliver(message)
      sender?.resolve(stored)
    } catch (error) {
      if (this.ended) return
      sender?.reject(error)
      this.options.refused(message, error)
    }
    this.waiting.shift()
    this.store((messages) =>
      messages.filter(({ clientMessageId }) => clientMessageId !== message.clientMessageId)
    )
  }

  /** Loads the messages that were unsent when the app was closed, and puts them before new ones. */
  private async load() {
    const session = await this.options.client.auth.session()
    // If the app manages the session itself, it is unknown whose messages these are.
    if (!session) return
    this.key = `kuwait-property.outbox.${session.user.id}`
    const messages = await this.read()
    this.waiting.unshift(...messages.map((message) => ({ message })))
  }

  private async read(): Promise<NewMessage[]> {
    try {
      return JSON.parse(await this.options.client.storage.getItem(this.key!) ?? '[]')
    } catch {
      return []
    }
  }

  /** Updates one message in the stored list, which may also contain messages of other tabs. */
  private store(change: (messages: NewMessage[]) => NewMessage[]): void {
    this.stored = this.stored.then(async () => {
      if (!this.key) return
      const messages = change(await this.read())
      const { storage } = this.options.client
      if (messages.length) await storage.setItem(this.key, JSON.stringify(messages))
      else await storage.removeItem(this.key)
    }).catch((error) => console.warn('The unsent messages could not be stored.', error))
  }
}
