// Licence documents. PDFs are rendered on a canvas, not in the browser's viewer, so that scripts, forms and
// links in them do not work.
import { isApiError, type Schemas } from 'kuwait-property-client'
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'
import { useRef, useState } from 'preact/hooks'
import { api, Badge, Button, Empty, Failed, size, Skeleton, useLoad } from '../frame/index.ts'
import { t } from './words.ts'

type Paper = Schemas['Document']
type Policy = { createScriptURL(url: string): string }
type TrustedTypes = { createPolicy(name: string, rules: Policy): Policy }

async function makeReader() {
  const { getDocument, PDFWorker } = await import('pdfjs-dist')
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes }
  const policy = trustedTypes?.createPolicy('desk', { createScriptURL: (url) => url })
  const port = new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: 'module' })
  const worker = PDFWorker.create({ port })
  const files = new URL('papers/', document.baseURI).href
  // Glyphs are rendered as shapes, so that the browser never parses an untrusted font.
  const options = { standardFontDataUrl: files, wasmUrl: files, disableFontFace: true, useSystemFonts: false }
  return (data: ArrayBuffer) =>
    getDocument({ data, worker, ...options, enableXfa: false, maxImageSize: 100e6 }).promise
}
let reader: ReturnType<typeof makeReader> | undefined

/** Renders the first pages of a document, at most 30 to limit memory. */
async function show(paper: Paper, into: HTMLElement, signal: AbortSignal) {
  into.replaceChildren()
  const file = await api.get('/admin/documents/{documentId}', { path: { documentId: paper.id }, signal })
  if (paper.type !== 'application/pdf') {
    const src = URL.createObjectURL(new Blob([file], { type: paper.type }))
    const picture = Object.assign(new Image(), { src, alt: paper.name })
    await picture.decode().finally(() => URL.revokeObjectURL(src))
    return into.append(picture)
  }
  const pdf = await (await (reader ??= makeReader()))(await file.arrayBuffer())
  signal.addEventListener('abort', () => void pdf.loadingTask.destroy())
  for (let n = 1; n <= Math.min(pdf.numPages, 30) && !signal.aborted; n++) {
    const page = await pdf.getPage(n)
    const { width, height } = page.getViewport({ scale: 1 })
    // Sharp even when zoomed in, but limited so that a very long page does not use up the memory.
    const viewport = page.getViewport({ scale: Math.min(1500 / width, 4000 / height) })
    const canvas = Object.assign(document.createElement('canvas'), {
      width: viewport.width, height: viewport.height, role: 'img',
      ariaLabel: `${paper.name}, ${t('page', { n, all: pdf.numPages })}`,
    })
    into.append(canvas)
    await page.render({ canvas, viewport }).promise
  }
}

export const Papers = ({ of }: { of: Paper[] }) => <section class='card' aria-label={t('papers')}>
  <h2>{t('papers')}</h2>
  {of.length ? of.map((paper) => <Sheet key={paper.id} paper={paper} />) : <Empty>{t('noPapers')}</Empty>}
</section>

function Sheet({ paper }: { paper: Paper }) {
  const [isLarge, setLarge] = useState(false)
  const sheet = useRef<HTMLDivElement>(null)
  const { state, error, reload } = useLoad((signal) => show(paper, sheet.current!, signal), [paper.id])
  return <figure class={`paper ${isLarge ? 'large' : ''}`}>
    <figcaption class='row'>
      <bdi>{paper.name}</bdi> <small>{size(paper.size)}</small>
      {paper.encrypted && <Badge tone='bad'>{t('encrypted')}</Badge>}
      <Button plain aria-pressed={isLarge} onClick={() => setLarge(!isLarge)}>{t('larger')}</Button>
    </figcaption>
    <div ref={sheet} />
    {state === 'loading' && <Skeleton rows={3} />}
    {state === 'failed' && (isApiError(error) ? <Failed error={error} retry={reload} />
      : <p class='bad'>{t((error as Error).name === 'PasswordException' ? 'encrypted' : 'unreadable')}</p>)}
  </figure>
}
