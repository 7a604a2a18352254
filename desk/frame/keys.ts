// Single-key shortcuts. On a keyboard layout without Latin letters, the position of the key counts.
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

export type Keys = Record<string, (event: KeyboardEvent) => void>
/** Users of speech input, or with a tremor, can turn single-key shortcuts off. */
export const keysOn = signal(true)
export const helpOpen = signal(false)
const layers: { current: Keys }[] = []
function nameOf({ key, code, shiftKey }: KeyboardEvent): string {
  if (code === 'Slash' || key === '/' || key === '?') return key === '?' || shiftKey ? '?' : '/'
  if (/^[a-z]$/i.test(key)) return key.toLowerCase()
  return /^(?:Key|Digit)(.)$/.exec(code)?.[1]?.toLowerCase() ?? key
}
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable ||
    target.matches('textarea, select, input:not([type=checkbox], [type=radio], [type=button])'))

addEventListener('keydown', (event) => {
  const { ctrlKey, metaKey, altKey, target } = event
  const name = nameOf(event)
  if (ctrlKey || metaKey || altKey || event.isComposing || document.querySelector('dialog[open]')) return
  if (isTyping(target)) return name === 'Escape' && (target as HTMLElement).blur()
  // Holding a key down may move the focus repeatedly, but makes only one decision.
  if (!keysOn.value && name.length === 1 || event.repeat && !/^(j|k|Arrow.*)$/.test(name)) return
  const layer = [...layers].reverse().find(({ current }) => name in current)
  if (!layer) return
  event.preventDefault()
  layer.current[name]!(event)
})

/**
 * Binds keys while a component is mounted. The most recent component has priority. Dialogs disable all keys.
 */
export function useKeys(keys: Keys) {
  const layer = useRef(keys)
  layer.current = keys
  useEffect(() => {
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [])
}
