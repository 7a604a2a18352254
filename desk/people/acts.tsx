// The actions of an administrator on somebody else's account.
import { type Act, api, Check, explain, Field, money, say, type Schemas, signal, withProof } from '../frame/index.ts'
import { word } from '../frame/index.ts'
import { t } from './words.ts'

type Status = 'active' | 'suspended' | 'banned'

export function actsOn(user: Schemas['AdminUser'], reload: () => void): Act[] {
  const path = { userId: user.id }
  const put = async (status: Status, reason: string, until?: string | null) => {
    const body = { status, reason, ...until && { until } }
    await withProof((options) => api.patch('/admin/users/{userId}/status', { path, body, ...options }))
    reload()
  }
  const back = () => put(user.status as Status, user.statusReason ?? t('undone'), user.suspendedUntil).catch(explain)
  const until = signal('')
  const act = (status: Status, title: string, done: string, more: Partial<Act> = {}): Act => ({
    title,
    send: async (reason) => {
      await put(status, reason, until.value && new Date(`${until.value}:00+03:00`).toISOString())
      say(done, { undo: () => void back() })
    },
    ...more,
  })
  const suspend = act('suspended', t('suspend'), t('suspended'), {
    about: t('suspendAbout'),
    more: () => <Field label={t('suspendUntil')} value={until} type='datetime-local' />,
  })
  const ban = act('banned', t('ban'), t('banned'), { about: t('banAbout') })
  const lift = act('active', t('lift'), t('lifted'))

  const [value, removeOther] = [signal(''), signal(false)]
  const identifier: Act = {
    title: t('identifier'), about: t('identifierAbout'), isFinal: true, isReady: () => value.value.trim() !== '',
    more: () => <>
      <Field label={t('value')} value={value} dir='ltr' required />
      <Check label={t('removeOther')} value={removeOther} />
    </>,
    send: async (reason) => {
      const [given, rest] = [value.value.trim(), { reason, removeOther: removeOther.value }]
      const body = given.includes('@') ? { email: given, ...rest } : { phone: given, ...rest }
      await withProof((options) => api.patch('/admin/users/{userId}/identifier', { path, body, ...options }))
      say(t('identifierSet'))
      reload()
    },
  }
  const payOut = async (reason: string) => {
    const body = { reason }
    const { items } = await withProof((proof) => api.post('/admin/users/{userId}/payout', { path, body, ...proof }))
    const list = items.map(({ amount, state }) => `${money(amount)} (${word('payoutState', state)})`).join(' · ')
    say(list ? t('payoutOpened', { list }) : t('payoutNothing'), { seconds: 12 })
    reload()
  }
  const remove = async (reason: string) => {
    await withProof((options) => api.delete('/admin/users/{userId}', { path, body: { reason }, ...options }))
    say(t('deleted'))
    reload()
  }
  return [
    user.status === 'active' ? suspend : lift,
    user.status === 'banned' ? { title: t('payout'), about: t('payoutAbout'), isFinal: true, send: payOut } : ban,
    identifier,
    { title: t('delete'), about: t('deleteAbout'), isFinal: true, send: remove },
  ]
}
