import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import { api, withProof, word } from '../frame/api.ts'
import { number } from '../frame/format.ts'
import { Badge, Button, Loaded, Money, useLoad } from '../frame/parts.tsx'
import { named } from '../frame/words.ts'
import { Table, yesOrNo } from '../people/parts.tsx'
import { Form, type FormField, type Texts } from './form.tsx'
import { t } from './words.ts'

type Plan = Schemas['AdminPlan']
const counts = ['intervalDays', 'activeListings', 'listingDays', 'photosPerListing', 'featuredCredits'] as const
const names = ['nameAr', 'nameEn', 'price', ...counts, 'onSale'] as const
const isNumber = (name: string) => !name.startsWith('name') && name !== 'onSale'
const textsOf = (plan: Plan): Texts => Object.fromEntries(names.map((name) => [name, String(plan[name])]))
const list = () => api.get('/admin/plans')

async function send(typed: Texts, plan: Plan) {
  const before = textsOf(plan)
  const changed = Object.entries(typed).filter(([name, text]) => text.trim() !== before[name])
    .map(([name, text]) => [name, isNumber(name) ? Number(text) : name === 'onSale' ? text === 'true' : text])
  const call = { path: { planId: plan.id }, body: { version: plan.version, ...Object.fromEntries(changed) } }
  await withProof((options) => api.patch('/admin/plans/{planId}', { ...call, ...options }))
}

export function Plans() {
  const plans = useLoad(list)
  const open = useSignal<Plan | undefined>(undefined)
  const fields = names.map((name): FormField => {
    const more = name === 'onSale' ? { options: yesOrNo() } : { isNumber: isNumber(name) }
    return { name, label: t(name), ...more }
  })
  const close = () => {
    open.value = undefined
    plans.reload()
  }
  const button = (plan: Plan) => (
    <Button aria-label={t('editOf', { name: named(plan) })} onClick={() => (open.value = plan)}>{t('edit')}</Button>
  )
  return (
    <section class='card'>
      <Loaded of={plans}>
        {({ items }) => (
          <Table
            label={t('plans')}
            heads={[t('plan'), t('audience'), ...names.slice(2).map((name) => t(name)), t('edit')]}
            ends={[2, 3, 4, 5, 6, 7]}
            rows={items.map((plan) => [
              plan.id,
              <bdi>{named(plan)}</bdi>,
              word('planAudience', plan.audience),
              <Money of={plan.price} />,
              ...counts.map((name) => number(plan[name])),
              <Badge tone={plan.onSale ? 'good' : 'calm'}>{t(plan.onSale ? 'yes' : 'no')}</Badge>,
              button(plan),
            ])}
          />
        )}
      </Loaded>
      {open.value && (
        <Form title={t('editOf', { name: named(open.value) })} about={t('planAbout')} row={open.value} fields={fields}
          textsOf={textsOf} send={send} onClose={close}
          again={async () => (await list()).items.find(({ id }) => id === open.value?.id)} />
      )}
    </section>
  )
}
