// What administrators decide about the service itself, and their own passkeys.
import { api, word } from '../frame/api.ts'
import { Loaded, Page, useLoad } from '../frame/parts.tsx'
import type { Place } from '../frame/router.ts'
import { language } from '../frame/words.ts'
import { Table, Tabs } from '../people/parts.tsx'
import { Passkeys } from './passkeys.tsx'
import { Plans } from './plans.tsx'
import { Service } from './service.tsx'
import { t } from './words.ts'

const tabs = { service: Service, plans: Plans, passkeys: Passkeys, reasons: Reasons }
type Name = keyof typeof tabs

export default function Settings({ id }: Place) {
  const shown = (id in tabs ? id : 'service') as Name
  const Tab = tabs[shown]
  const names = (Object.keys(tabs) as Name[]).map((name): [Name, string] => [name, t(name)])
  const row = <Tabs label={t('title')} room='settings' shown={shown} of={names} />
  return <Page title={t('title')}>{row}<Tab key={shown} /></Page>
}

function Reasons() {
  const page = useLoad((signal) => api.get('/admin/moderation', { query: { limit: 1 }, signal }))
  type Reason = NonNullable<typeof page.value>['reasons'][number]
  const row = ({ code, textAr, textEn, kinds }: Reason): [string, ...string[]] => {
    const usual = kinds.map((kind) => word('moderationKind', kind)).join(' · ')
    return [code, language.value === 'ar' ? textAr : textEn, usual]
  }
  return (
    <section class='card'>
      <p class='soft'>{t('reasonsAbout')}</p>
      <Loaded of={page}>
        {({ reasons }) => <Table label={t('reasons')} heads={[t('reasons'), t('usual')]} rows={reasons.map(row)} />}
      </Loaded>
    </section>
  )
}
