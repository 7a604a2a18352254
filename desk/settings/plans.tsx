import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import { api, withProof, word } from '../frame/api.ts'
import { number } from '../frame/format.ts'
import { Badge, Button, Choice, Field, Loaded, Money, useLoad } from '../frame/parts.tsx'
import { named } from '../frame/words.ts'
import { Form } from './form.tsx'
import { t } from './words.ts'

type Plan = Schemas['AdminPlan']
const counts = ['intervalDays', 'activeListings', 'listingDays', 'photosPerListing', 'featuredCredits'] as const
const names = ['nameAr', 'nameEn', 'price', ...counts, 'onSale'] as const
const textsOf = (plan: Plan) => Object.fromEntries(names.map((name) => [name, String(plan[name])]))
const list = (signal?: AbortSignal) => api.get('/admin/plans', signal && { signal })

export function Plans() {
  const plans = useLoad(list)
  const open = useSignal<Plan | undefined>(undefined)
  const send = async (typed: Record<string, string>, plan: Plan) => {
    const before = textsOf(plan)
    const changed = Object.entries(typed).filter(([name, text]) => text.trim() !== before[name])
      .map(([name, text]) => [name, name === 'onSale' ? text === 'true' : name.startsWith('name') ? text : Number(text)])
    const body = { version: plan.version, ...Object.fromEntries(changed) }
    await withProof((options) => api.patch('/admin/plans/{planId}', { path: { planId: plan.id }, body, ...options }))
    plans.reload()
  }
  return (
    <section class='card'>
      <Loaded of={plans}>
        {({ items }) => (
          <div class='scroll'>
            <table>
              <thead>
                <tr>
                  <th>{t('plan')}</th><th>{t('audience')}</th><th class='end'>{t('price')}</th>
                  {counts.map((name) => <th key={name} class='end'>{t(name)}</th>)}<th>{t('onSale')}</th><th>{t('edit')}</th>
                </tr>
              </thead>
              <tbody>
                {items.map((plan) => (
                  <tr key={plan.id}>
                    <th scope='row'><bdi>{named(plan)}</bdi></th><td>{word('planAudience', plan.audience)}</td>
                    <td class='end'><Money of={plan.price} /></td>
                    {counts.map((name) => <td key={name} class='end'>{number(plan[name])}</td>)}
                    <td><Badge tone={plan.onSale ? 'good' : 'calm'}>{t(plan.onSale ? 'onSale' : 'offSale')}</Badge></td>
                    <td><Button onClick={() => (open.value = plan)} aria-label={t('editOf', { name: named(plan) })}>{t('edit')}</Button></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
      {open.value && (
        <Form
          title={t('editOf', { name: named(open.value) })}
          about={t('planAbout')}
          row={open.value}
          textsOf={textsOf}
          nameOf={(name) => t(name as typeof names[number])}
          send={send}
          again={async () => (await list()).items.find(({ id }) => id === open.value?.id)}
          onClose={() => (open.value = undefined)}
          fields={(values) => names.map((name) => name === 'onSale'
            ? <Choice key={name} label={t(name)} value={values[name]!.value} options={[['true', t('yes')], ['false', t('no')]]}
              onChoose={(one) => (values[name]!.value = one)} />
            : <Field key={name} label={t(name)} value={values[name]!} required dir={name.startsWith('name') ? 'auto' : 'ltr'}
              inputMode={name === 'price' ? 'decimal' : name.startsWith('name') ? 'text' : 'numeric'} />)}
        />
      )}
    </section>
  )
}
