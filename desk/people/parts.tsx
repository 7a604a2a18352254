// What the rooms of people, money, figures, settings and audit share: states in colour, tables, filters and tabs.
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { word } from '../frame/api.ts'
import { Badge, Choice, type Tone } from '../frame/parts.tsx'
import { t } from './words.ts'

const toned: Partial<Record<Tone, string>> = {
  good: 'active paid captured settled',
  bad: 'suspended banned deleted rejected failed upheld mismatch unmatched',
  warn: 'pending_review pending_verification expired open surplus processing',
}
/** A code of a vocabulary as word and colour. */
export function State({ of, in: vocabulary }: { of: string; in: string }) {
  const [tone] = Object.entries(toned).find(([, codes]) => codes.split(' ').includes(of)) ?? ['calm']
  return <Badge tone={tone as Tone}>{word(vocabulary, of)}</Badge>
}

export const Two = ({ top, under }: { top: ComponentChildren; under: ComponentChildren }) => (
  <><bdi>{top}</bdi><small class='under'>{under}</small></>
)

type TableProps = { label: string; heads: string[]; rows: [key: string | number, ...cells: ComponentChildren[]][] }
/** A table whose first cells name their rows; it scrolls where it is too wide. Columns `ends` are of numbers. */
export function Table({ label, heads, ends = [], rows }: TableProps & { ends?: number[] }) {
  const end = (column: number) => ends.includes(column) ? 'end' : ''
  return (
    <div class='scroll' role='group' aria-label={label} tabIndex={0}>
      <table>
        <thead><tr>{heads.map((head, at) => <th key={at} scope='col' class={end(at)}>{head}</th>)}</tr></thead>
        <tbody>
          {rows.map(([key, first, ...cells]) => (
            <tr key={key}>
              <th scope='row'>{first}</th>
              {cells.map((cell, at) => <td key={at} class={end(at + 1)}>{cell}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export type Option = [value: string, text: string]
export const codes = (vocabulary: string, all: string): Option[] =>
  all.split(' ').map((code) => [code, word(vocabulary, code)])
export const yesOrNo = (): Option[] => [['true', t('yes')], ['false', t('no')]]

export type Chosen = Record<string, string>
type Filter = [name: string, label: string, options: Option[], none?: string]
/** Choices that narrow a list down; one that is empty is not there. */
export function Filters({ of, all, children }: { of: Signal<Chosen>; all: Filter[]; children?: ComponentChildren }) {
  const choose = (name: string) => (value: string) => {
    const { [name]: _, ...others } = of.value
    of.value = value ? { ...others, [name]: value } : others
  }
  const choices = all.map(([name, label, options, none = t('any')]) => (
    <Choice key={name} label={label} value={of.value[name] ?? ''} options={[['', none], ...options]}
      onChoose={choose(name)} />
  ))
  return <div class='filters'>{children}{choices}</div>
}

export const Tabs = ({ label, room, shown, of }: { label: string; room: string; shown: string; of: Option[] }) => (
  <nav class='tabs' aria-label={label}>
    {of.map(([id, text]) => (
      <a key={id} href={`#/${room}/${id}`} aria-current={id === shown ? 'page' : undefined}>{text}</a>
    ))}
  </nav>
)
