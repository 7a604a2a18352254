// The administrators' desk: the sign-in page, the navigation and the current room.
import { type ComponentType, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { api, Button, Check, Dialog, follow, go, helpOpen, IdleWatch, isCode, keysOn, language } from './frame/index.ts'
import { Loaded, type Place, place, ProofDialog, session, SignIn, signOut, Skeleton, t, theme } from './frame/index.ts'
import { themes, Told, useKeys, useLoad, wasIdle } from './frame/index.ts'

const names = ['queue', 'people', 'money', 'figures', 'settings', 'audit'] as const
const rooms = import.meta.glob<{ default: ComponentType<Place> }>('./*/room.tsx')

function Shell() {
  const room = names.find((name) => name === place.value.room)
  useEffect(() => {
    if (!room) go('/queue', true)
  }, [room])
  useKeys({
    '?': () => (helpOpen.value = true),
    '/': () => document.querySelector<HTMLElement>('input[type=search]')?.focus(),
    Escape: () => place.value.id && go(`/${place.value.room}`),
    ...Object.fromEntries(names.map((name, at) => [String(at + 1), () => go(`/${name}`)])),
  })
  const right = useLoad(() => api.get('/auth/passkeys'), [session.value?.user.id])
  if (isCode(right.error, 'admin_only')) return <NoRight />
  const skip = (event: Event) => (event.preventDefault(), document.getElementById('content')?.focus())
  return <>
    <a class='skip' href='#content' onClick={skip}>{t('skip')}</a>
    <nav class='rooms' aria-label={t('rooms')}>
      <strong>{t('desk')}</strong>
      {names.map((name) =>
        <a key={name} href={`#/${name}`} aria-current={name === room ? 'page' : undefined}>{t(name)}</a>)}
      <Preferences />
      <Button plain onClick={() => (helpOpen.value = true)}>{t('keys')} <kbd>?</kbd></Button>
      <Button plain onClick={() => signOut()}>{t('signOut')}</Button>
    </nav>
    <main id='content' tabIndex={-1}>{room && <Shown key={room} room={room} />}</main>
    {helpOpen.value && <Help />}<ProofDialog /><IdleWatch />
  </>
}

function Shown({ room }: { room: string }) {
  const module = useLoad(() => rooms[`./${room}/room.tsx`]!())
  return <Loaded of={module}>{({ default: Room }) => <Room {...place.value} />}</Loaded>
}
const NoRight = () => <main class='sign-in'>
  <h1>{t('noRight')}</h1><p>{t('noRightMore')}</p><Button main onClick={() => signOut()}>{t('signOut')}</Button>
</main>

function Preferences() {
  const other = language.value === 'ar' ? 'en' : 'ar'
  const next = themes[(themes.indexOf(theme.value) + 1) % 3]!
  return <>
    <Button plain lang={other} onClick={() => (language.value = other)}>{t('otherLanguage')}</Button>
    <Button plain aria-label={t('dark')} title={t('dark')} onClick={() => (theme.value = next)}>
      {{ auto: '◐', light: '○', dark: '●' }[theme.value]}
    </Button>
  </>
}

function Help() {
  const keys = [
    ['J K ↓ ↑', t('keyMove')], ['Enter', t('keyOpen')], ['X', t('choose')], ['A', t('keyApprove')],
    ['R', t('keyReject')], ['U', t('undo')], ['/', t('keySearch')], ['1 … 6', t('keyGo')], ['Esc', t('keyClose')],
    ['?', t('keyHelp')],
  ]
  return <Dialog title={t('keys')} onClose={() => (helpOpen.value = false)}>
    <dl class='keys'>{keys.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}</dl>
    <Check label={t('keysOn')} value={keysOn} />
  </Dialog>
}

function Desk() {
  if (session.value === undefined) return <Skeleton />
  if (session.value) return <><Shell key={session.value.user.id} /><Told /></>
  return <><div class='corner'><Preferences /></div><main><SignIn /></main><Told /></>
}
await follow()
if (session.value && wasIdle) await signOut(t('wasIdle'))
render(<Desk />, document.getElementById('desk')!)
