// An entry of the audit trail, for the list of all entries and for a person's page.
import { Copy, type Schemas, Time, word } from '../frame/index.ts'
import { actOf, t } from './words.ts'

type Entry = Schemas['AuditEntry']

/** Returns who acted: the signed-in account, the account that the act names, or the database login. */
function doer({ actor, said, actorRole }: Entry): string {
  if (actor) return actor.fullName ?? actor.id
  if (said) return t('said', { name: said.fullName ?? said.id })
  return actorRole === 'facade' ? t('service') : t('by', { role: actorRole })
}

const textOf = (value: unknown) =>
  value === undefined || value === null ? '—' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** The target of the action: a link to an account or identity, or the id of anything else. */
function Target({ type, id }: { type: string; id: string }) {
  const path = type === 'account' ? `/people/${id}` : type === 'identity' && `/people?q=${id}`
  return path ? <a href={`#${path}`}>{word('noteTarget', type)}</a> : <small><Copy text={id} /></small>
}

/** The values before and after. A value that is unchanged or exists only before or after is shown once. */
function valuesOf({ before, after }: Entry): string {
  const shown = Object.keys({ ...before, ...after }).map((name) => {
    const [was, is] = [textOf(before?.[name]), textOf(after?.[name])]
    const isOnBoth = before && after && name in before && name in after
    if (isOnBoth && was !== is) return t('change', { name, was, is })
    const value = after && name in after ? is : was
    return value !== '—' && t('value', { name, is: value })
  })
  return shown.filter(Boolean).join(' · ')
}

export function EntryView({ entry, isAbout }: { entry: Entry; isAbout?: string }) {
  const { action, targetType, targetId, reason, at } = entry
  return <div class='entry grow'>
    <p class='row'>
      <b>{actOf(action)}</b> {targetId && targetId !== isAbout && <Target type={targetType} id={targetId} />}
      <small class='who'><bdi>{doer(entry)}</bdi> · <Time at={at} full /></small>
    </p>
    {reason && <p><bdi>{reason}</bdi></p>}
    <small>{valuesOf(entry)}</small>
  </div>
}
