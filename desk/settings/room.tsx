// What administrators decide about the service itself, and their own passkeys.
import { api, word } from '../frame/api.ts'
import { Loaded, Page, useLoad } from '../frame/parts.tsx'
import type { Place } from '../frame/router.ts'
import { language } from '../frame/words.ts'
import { Passkeys } from './passkeys.tsx'
import { Plans } from './plans.tsx'
import { Service } from './service.tsx'
import { t } from './words.ts'

const tabs = { service: Service, plans: Plans, passkeys: Passkeys, reasons: Reasons }

export default function Settings({ id }: Place) {
  const shown = (id in tabs ? id : 'service') as keyof typeof tabs
  const Tab = tabs[shown]
  return (
    <Page title={t('title')}>
      <nav class='tabs' aria-label={t('title')}>
        {(Object.keys(tabs) as (keyof typeof tabs)[]).map((one) => (
          <a key={one} href={`#/settings/${one}`} aria-current={one === shown ? 'page' : undefined}>{t(one)}</a>
        ))}
      </nav>
      <Tab key={shown} />
    </Page>
  )
}

function Reasons() {
  const page = useLoad((signal) => api.get('/admin/moderation', { query: { limit: 1 }, signal }))
  return (
    <section class='card'>
      <p class='soft'>{t('reasonsAbout')}</p>
      <Loaded of={page}>
        {({ reasons }) => (
          <table>
            <thead><tr><th>{t('reasons')}</th><th>{t('usual')}</th></tr></thead>
            <tbody>
              {reasons.map(({ code, textAr, textEn, kinds }) => (
                <tr key={code}>
                  <th scope='row'><bdi>{language.value === 'ar' ? textAr : textEn}</bdi></th>
                  <td>{kinds.map((kind) => word('moderationKind', kind)).join('، ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </section>
  )
}
