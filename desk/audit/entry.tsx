// An entry of the audit trail, as the trail and the page of a person show it.
import type { Schemas } from 'kuwait-property-client'
import { word } from '../frame/api.ts'
import { Copy, Time } from '../frame/parts.tsx'
import { actOf, t } from './words.ts'

type Entry = Schemas['AuditEntry']

/** Who did it: what a token proved, or what was only said, or the login at the database. */
export function doer({ actor, said, actorRole }: Entry): string {
  if (actor) return actor.fullName ?? actor.id
  if (said) return t('said', { name: said.fullName ?? said.id })
  return actorRole === 'facade' ? t('service') : t('by', { role: actorRole })
}

const textOf = (value: unknown) =>
  value === undefined || value === null ? '—' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Names of fields and the values before and after, which differ in what was done. */
export function Values({ entry: { before, after } }: { entry: Entry }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  if (!names.length) return null
  return (
    <details>
      <summary>{t('values')}</summary>
      <div class='scroll'>
        <table>
          <thead><tr><th>{t('field')}</th><th>{t('before')}</th><th>{t('after')}</th></tr></thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope='row'><bdi>{name}</bdi></th>
                <td><bdi>{textOf(before?.[name])}</bdi></td>
                <td><bdi>{textOf(after?.[name])}</bdi></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

/** What it was done to; people open, everything else is an id to copy. */
function Target({ entry: { targetType, targetId } }: { entry: Entry }) {
  if (!targetId) return <small>{targetType}</small>
  const type = word('noteTarget', targetType)
  if (targetType === 'account') return <a href={`#/people/${targetId}`}>{type}</a>
  if (targetType === 'identity') return <a href={`#/people?q=${targetId}`}>{type}</a>
  return <small>{type} <Copy text={targetId} /></small>
}

export function EntryView({ entry, isAbout }: { entry: Entry; isAbout?: string }) {
  return (
    <div class='entry'>
      <p><b>{actOf(entry.action)}</b> {entry.targetId !== isAbout && <Target entry={entry} />}</p>
      {entry.reason && <p><bdi>{entry.reason}</bdi></p>}
      <small><bdi>{doer(entry)}</bdi> · <Time at={entry.at} full /></small>
      <Values entry={entry} />
    </div>
  )
}
