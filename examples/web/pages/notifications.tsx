// The notifications of the account. Each opens its screen, as the identity that it is for.
import { actAs, Button, chat, client, clockOf, dayOf, explain, go, isArabic, List } from '../app.ts'
import { me, None, type Schemas, t, Title, to, useEffect, usePages, useState } from '../app.ts'

/** Returns the number of unread notifications, updated live. It is the badge on every page. */
export function useUnread(): number {
  const [unread, setUnread] = useState(0)
  useEffect(() => {
    if (!me()) return
    client.get('/notifications/unread-count').then(({ unread }) => setUnread(unread), () => {})
    const stops = (['notification', 'notifications_changed'] as const).map((event) => chat().on(event, ({ unread }) => setUnread(unread)))
    return () => stops.forEach((stop) => stop())
  }, [])
  return unread
}

/** The page of this app for each screen of the service (docs/apps/pushes.md). Unknown ones open the list. */
const pages: Record<string, string> = {
  conversation: 'chat', property: 'listing', my_property: 'listing', favorites: 'favorites', my_properties: 'mine', leads: 'leads',
  invoice: 'plans', plan: 'plans', identity: 'account', review: 'account', sessions: 'account', terms: 'account',
}
async function open({ id, data: { route, entityId }, identityId }: Schemas['Notification']) {
  client.post('/notifications/{notificationId}/read', { path: { notificationId: id } }).catch(explain)
  if (identityId && identityId !== me()?.id) await actAs(identityId)
  const page = pages[route] ?? 'notifications'
  go(to(['chat', 'listing'].includes(page) ? `${page}/${entityId}` : page))
}

export function Notifications() {
  const list = usePages((page, signal) => client.get('/notifications', { query: { ...page, limit: 20 }, signal }))
  const readAll = () => client.post('/notifications/read-all').then(list.reload)
  return <>
    <Title text={t('notifications')}><Button second onClick={readAll}>{t('readAll')}</Button></Title>
    <List of={list} none={<None icon='notifications'>{t('noNotifications')}</None>}>{(one) =>
      <button key={one.id} type='button' class={`row ${one.readAt ? '' : 'unread'}`} onClick={() => void open(one).catch(explain)}>
        <span class='about'><strong>{isArabic ? one.titleAr : one.titleEn}</strong><span class='text'>{isArabic ? one.bodyAr : one.bodyEn}</span></span>
        <small>{dayOf(one.createdAt)} {clockOf(one.createdAt)}</small></button>}</List>
  </>
}
