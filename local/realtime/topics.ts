// Holds topics and their listeners. A private and a public topic of the same name are separate.
import { randomBytes } from 'node:crypto'
import { type Json, Message } from './frames.ts'

export type Listener = {
  readonly presenceKey: string
  readonly receivesPresence: boolean
  deliver(message: Message): void
}

type Meta = Json & { phx_ref: string }
type Group = Record<string, { metas: Meta[] }>

/** A topic exists as long as it has listeners. */
export class Topic {
  readonly wire: string
  readonly listeners = new Set<Listener>()
  private readonly present = new Map<Listener, Meta>()

  constructor(name: string) {
    this.wire = `realtime:${name}`
  }

  publish(message: Message, except?: Listener): number {
    for (const listener of this.listeners) if (listener !== except) listener.deliver(message)
    return this.listeners.size - (except ? 1 : 0)
  }

  state(): Group {
    return grouped([...this.present])
  }

  track(listener: Listener, payload: Json): void {
    const before = this.present.get(listener)
    const meta: Meta = {
      ...payload,
      ...(before && { phx_ref_prev: before.phx_ref }),
      phx_ref: randomBytes(8).toString('base64'),
    }
    this.present.set(listener, meta)
    this.publishDiff([[listener, meta]], before ? [[listener, before]] : [])
  }

  untrack(listener: Listener): void {
    const before = this.present.get(listener)
    if (!before) return
    this.present.delete(listener)
    this.publishDiff([], [[listener, before]])
  }

  private publishDiff(joins: [Listener, Meta][], leaves: [Listener, Meta][]) {
    const message = new Message(this.wire, 'presence_diff', {
      joins: grouped(joins),
      leaves: grouped(leaves),
    })
    for (const listener of this.listeners) if (listener.receivesPresence) listener.deliver(message)
  }
}

function grouped(present: [Listener, Meta][]): Group {
  const group: Group = Object.create(null)
  for (const [{ presenceKey }, meta] of present) {
    ;(group[presenceKey] ??= { metas: [] }).metas.push(meta)
  }
  return group
}

export class Topics {
  private readonly topics = new Map<string, Topic>()

  find(name: string, isPrivate: boolean): Topic | undefined {
    return this.topics.get(`${isPrivate} ${name}`)
  }

  join(name: string, isPrivate: boolean, listener: Listener): Topic {
    const key = `${isPrivate} ${name}`
    const topic = this.topics.get(key) ?? new Topic(name)
    this.topics.set(key, topic)
    topic.listeners.add(listener)
    return topic
  }

  leave(name: string, isPrivate: boolean, listener: Listener): void {
    const topic = this.find(name, isPrivate)
    if (!topic?.listeners.delete(listener)) return
    topic.untrack(listener)
    if (topic.listeners.size === 0) this.topics.delete(`${isPrivate} ${name}`)
  }
}
