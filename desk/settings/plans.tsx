import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import { api, withProof, word } from '../frame/api.ts'
import { number } from '../frame/format.ts'
import { Badge, Button, Loaded, Money, useLoad } from '../frame/parts.tsx'
import { named } from '../frame/words.ts'
import { Table, yesOrNo } from '../people/parts.tsx'
import { Form, type FormField } from './form.tsx'
import { t } from './words.ts'

type Plan = Schemas['AdminPlan']
const counts = ['intervalDays', 'activeListings', 'listingDays', 'photosPerListing', 'featuredCredits'] as const
const names = ['nameAr', 'nameEn', 'price', ...counts, 'onSale'] as const
const textsOf = (plan: Plan) => Object.fromEntries(names.map((name) => [name, String(plan[name])]))
const list = (signal?: AbortSignal) => api.get('/admin/plans', signal && { signal })

async function send(typed: Record<string, string>, plan: Plan) {
  const before = textsOf(plan)
  const parse = (name: string, text: string) =>
    name === 'onSale' ? text === 'true' : name.startsWith('name') ? text : Number(text)
  const changed = Object.entries(typed).filter(([name, text]) => text.trim() !== before[name])
  if (changed.some(([name, text]) => Number.isNaN(parse(name, text)))) return t('badNumber')
  const body = {
    version: plan.version,
    ...Object.fromEntries(changed.map(([name, text]) => [name, parse(name, text)])),
  }
  await withProof((options) => api.patch('/admin/plans/{planId}', { path: { planId: plan.id }, body, ...options }))
}

export function Plans() {
  const plans = useLoad(list)
  const open = useSignal<Plan | undefined>(undefined)
  const fields = names.map((name): FormField => ({
    name,
    label: t(name),
    ...name === 'onSale' ? { options: yesOrNo() } : { isNumber: !name.startsWith('name') },
  }))
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
              <Button aria-label={t('editOf', { name: named(plan) })} onClick={() => (open.value = plan)}>
                {t('edit')}
              </Button>,
            ])}
          />
        )}
      </Loaded>
      {open.value && (
        <Form
          title={t('editOf', { name: named(open.value) })}
          about={t('planAbout')}
          row={open.value}
          fields={fields}
          textsOf={textsOf}
          send={send}
          again={async () => (await list()).items.find(({ id }) => id === open.value?.id)}
          onClose={() => {
            open.value = undefined
            plans.reload()
          }}
        />
      )}
    </section>
  )
}
