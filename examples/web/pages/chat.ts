// Messages arrive once and in order. One that is written offline is sent later. ✓ means stored, ✓✓ read.
import type { Schemas } from 'kuwait-property-client'
import type { Page } from '../main.ts'
import { chat, client, me } from '../service.ts'
import { clockOf, dayOf, fill, html, say, submit } from '../ui.ts'

type Conversation = Schemas['Conversation']
type Message = Schemas['Message']

const face = ({ avatarUrl, displayName }: Conversation['peer']) =>
  avatarUrl ? html`<img class="face" src="${avatarUrl}" alt="">`
    : html`<span class="face">${displayName[0]}</span>`

export const chatsPage: Page = async (into, signal) => {
  const list = html`<div class="list"></div>`
  into.append(html`<h2>المحادثات</h2>`, list)
  const row = ({ id, peer, property, lastMessage, unread, updatedAt }: Conversation) => {
    const said = { text: lastMessage?.preview, image: 'صورة', location: 'موقع', property: 'إعلان' }
    return html`<a class="row" href="#/chat/${id}" id="conversation-${id}">${face(peer)}
      <div class="about"><strong>${peer.displayName}</strong><small>${property?.titleAr}</small>
        <p>${lastMessage?.mine && 'أنت: '}${lastMessage && said[lastMessage.type]}</p></div>
      <div class="aside"><small>${dayOf(updatedAt)}</small>${unread ? html`<b>${unread}</b>` : ''}</div></a>`
  }
  const stop = chat().on('conversation_updated', async ({ conversationId: id }) => {
    const now = await client.get('/conversations/{id}', { path: { id }, signal }).catch(() => null)
    if (!now) return
    list.querySelector(`#conversation-${id}`)?.remove()
    list.prepend(row(now))
  })
  signal.addEventListener('abort', stop)
  const pages = client.list('/conversations', { query: { limit: 20 }, signal }).pages()
  await fill(list, pages, async (one) => row(one), 'لا محادثات بعد: ابدأ واحدة من صفحة إعلان')
}

export const chatPage: Page = async (into, signal, id) => {
  const path = { id }
  const [{ peer, property, unread }, { items }] = await Promise.all([
    client.get('/conversations/{id}', { path, signal }),
    client.get('/conversations/{id}/messages', { path, query: { limit: 50 }, signal }),
  ])
  const messages = html`<div class="messages"></div>`
  const box = html`<input aria-label="رسالة" placeholder="اكتب رسالة" autocomplete="off">` as HTMLInputElement
  const send = async () => {
    const body = box.value.trim()
    box.value = ''
    // The message is drawn when it returns as new_message, as on every other device.
    if (body) await chat().send({ conversationId: id, type: 'text', body })
  }
  into.append(
    html`<div class="bar"><a href="#/chats" aria-label="رجوع">→</a>${face(peer)}<strong>${peer.displayName}</strong>
      <a class="about" href="#/listing/${property?.id}">${property?.titleAr}</a></div>`,
    messages,
    html`<form class="write" @submit=${submit(send)}>${box}<button>إرسال</button></form>`,
  )

  const isMine = ({ senderIdentityId }: Message) => senderIdentityId === me()!.activeIdentity!.id
  let readUpTo = 0
  function read(upTo: number) {
    readUpTo = Math.max(readUpTo, upTo)
    for (const bubble of messages.querySelectorAll<HTMLElement>('.own')) {
      bubble.classList.toggle('read', Number(bubble.dataset.seq) <= readUpTo)
    }
  }
  function draw(message: Message) {
    messages.append(html`<div class="bubble ${isMine(message) && 'own'}" data-seq="${message.seq}">
      ${contentOf(message)}<small>${clockOf(message.createdAt)}</small></div>`)
    messages.lastElementChild!.scrollIntoView({ block: 'end' })
    if (!isMine(message)) read(message.seq - 1) // an answer means that earlier messages were read
  }
  function tellRead(upToSeq: number) {
    if (document.hidden) return
    client.post('/conversations/{id}/read', { path, body: { upToSeq } }).catch(() => {})
  }

  items.forEach(draw)
  const last = items.at(-1)?.seq ?? 0
  if (unread) tellRead(last)
  const stops = [
    chat().on('new_message', ({ message }) => {
      if (message.conversationId !== id) return
      draw(message)
      if (!isMine(message)) tellRead(message.seq)
    }),
    chat().on('message_read', ({ conversationId, upToSeq }) => {
      if (conversationId === id) read(upToSeq)
    }),
    chat().on('refused', ({ error }) => say(error.message)),
  ]
  signal.addEventListener('abort', () => stops.forEach((stop) => stop()))
  await chat().join(id, { afterSeq: last })
}

function contentOf({ type, body, mediaUrl, hidden }: Message): Node {
  if (hidden) return html`<em>أخفت الإدارة هذه الرسالة</em>`
  if (type === 'image') return html`<img src="${mediaUrl}" alt="${body || 'صورة'}">`
  if (type === 'property') return html`<a href="#/listing/${body}">إعلان: اضغط لفتحه</a>`
  if (type === 'location') return html`<a href="https://maps.google.com/?q=${body}">الموقع على الخريطة</a>`
  return html`<span dir="auto">${body}</span>`
}
