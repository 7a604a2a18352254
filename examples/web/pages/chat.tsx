// Messages arrive once and in order. Messages written offline are sent later. ✓ means stored, ✓✓ read.
import { chat, client, clockOf, dayOf, Face, List, Loaded, me, None, type Place, say, type Schemas } from '../app.ts'
import { submitted, t, Title, to, useEffect, useLayoutEffect, useLoad, usePages, useRef, useState, word } from '../app.ts'

type Conversation = Schemas['Conversation']
type Message = Schemas['Message']

export function Chats() {
  const list = usePages((page, signal) => client.get('/conversations', { query: { ...page, limit: 20 }, signal }))
  useEffect(() => chat().on('conversation_updated', list.reload), [])
  const said = (message: Conversation['lastMessage']) => !message ? ''
    : `${message.mine ? t('you') : ''}${message.type === 'text' ? message.preview : word('messageType', message.type)}`
  return <>
    <Title text={t('chats')} />
    <List of={list} none={<None icon='chats'>{t('noChats')}</None>}>{({ id, peer, property, lastMessage, unread, updatedAt }) =>
      <a class='row' key={id} href={to(`chat/${id}`)}><Face of={peer} />
        <span class='about'><strong>{peer.displayName}</strong><small>{property?.titleAr}</small><span class='text'>{said(lastMessage)}</span></span>
        <span class='aside'><small>{dayOf(updatedAt)}</small>{unread > 0 && <b>{unread}</b>}</span></a>}</List>
  </>
}

export function Chat({ id }: Place) {
  const loaded = useLoad((signal) => Promise.all([
    client.get('/conversations/{id}', { path: { id }, signal }),
    client.get('/conversations/{id}/messages', { path: { id }, query: { limit: 50 }, signal }),
  ]))
  return <>{!loaded.value && <Title text={t('chat')} />}
    <Loaded of={loaded}>{([conversation, { items }]) => <Talk conversation={conversation} before={items} />}</Loaded></>
}

const isMine = ({ senderIdentityId }: Message) => senderIdentityId === me()!.id

function Talk({ conversation, before }: { conversation: Conversation; before: Message[] }) {
  const { id, peer, property, unread, cannotWriteReason, peerReadSeq } = conversation
  const [messages, setMessages] = useState(before)
  const [read, setRead] = useState(peerReadSeq ?? 0)
  const end = useRef<HTMLDivElement>(null)
  const tellRead = (upToSeq: number) =>
    document.hidden || client.post('/conversations/{id}/read', { path: { id }, body: { upToSeq } }).catch(() => {})
  useEffect(() => {
    const last = before.at(-1)?.seq ?? 0
    if (unread) tellRead(last)
    const stops = [
      chat().on('new_message', ({ message }) => {
        if (message.conversationId !== id) return
        setMessages((now) => now.some(({ seq }) => seq === message.seq) ? now : [...now, message as Message])
        if (isMine(message as Message)) return
        setRead((now) => Math.max(now, message.seq - 1)) // whoever replies has read all earlier messages
        tellRead(message.seq)
      }),
      chat().on('message_read', ({ conversationId, upToSeq }) => conversationId === id && setRead((now) => Math.max(now, upToSeq))),
      chat().on('refused', ({ error }) => say(error.message ?? t('unexpected'))),
    ]
    chat().join(id, { afterSeq: last }).catch(() => {})
    return () => stops.forEach((stop) => stop())
  }, [])
  useLayoutEffect(() => end.current?.scrollTo(0, end.current.scrollHeight), [messages])
  const send = async (form: HTMLFormElement) => {
    const body = String(new FormData(form).get('body')).trim()
    form.reset()
    // The message is shown when it arrives as new_message, as on all other devices.
    if (body) await chat().send({ conversationId: id, type: 'text', body })
  }
  return <>
    <Title text={peer.displayName}><Face of={peer} />{property && <a href={to(`listing/${property.id}`)}>{property.titleAr}</a>}</Title>
    <div ref={end} class='messages' role='log' aria-label={t('messages')} tabIndex={0}>
      {messages.map((message) => <div key={message.seq} class={`bubble ${isMine(message) ? 'own' : ''} ${message.seq <= read ? 'read' : ''}`}>
        <Content of={message} /><small>{clockOf(message.createdAt)}</small></div>)}
      {!messages.length && <p class='none'>{t('noMessages')}</p>}</div>
    {cannotWriteReason ? <p class='hint'>{word('cannotWriteReason', cannotWriteReason)}</p> : <form class='write' onSubmit={submitted(send)}>
      <input name='body' aria-label={t('write')} placeholder={t('write')} autocomplete='off' dir='auto' /><button>{t('send')}</button></form>}
  </>
}

function Content({ of: { type, body, mediaUrl, hidden } }: { of: Message }) {
  if (hidden) return <em>{t('hidden')}</em>
  if (type === 'image') return <img src={mediaUrl!} alt={body || t('picture')} />
  if (type === 'property') return <a href={to(`listing/${body}`)}>{t('listing')}</a>
  if (type === 'location') return <a href={`https://maps.google.com/?q=${body}`} target='_blank' rel='noopener noreferrer'>{t('place')}</a>
  return <span dir='auto'>{body}</span>
}
