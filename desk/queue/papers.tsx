// Papers of a licence. A PDF is drawn on a canvas, without its scripts, forms and links, by no viewer of the browser.
import type { Schemas } from 'kuwait-property-client'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'
import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../frame/api.ts'
import { size } from '../frame/format.ts'
import { Badge, Button, Empty, Loaded, useLoad } from '../frame/parts.tsx'
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
  // Glyphs are drawn as shapes: no font of a stranger is given to the browser.
  const options = { standardFontDataUrl: files, wasmUrl: files, disableFontFace: true, useSystemFonts: false }
  return (data: ArrayBuffer) =>
    getDocument({ data, worker, ...options, enableXfa: false, maxImageSize: 100e6 }).promise
}
let reader: ReturnType<typeof makeReader> | undefined

type Opened = { picture: string } | { pdf: PDFDocumentProxy } | 'encrypted' | 'unreadable'
async function open(paper: Paper): Promise<Opened> {
  const file = await api.get('/admin/documents/{documentId}', { path: { documentId: paper.id } })
  if (paper.type !== 'application/pdf') return { picture: URL.createObjectURL(new Blob([file], { type: paper.type })) }
  const read = await (reader ??= makeReader())
  try {
    return { pdf: await read(await file.arrayBuffer()) }
  } catch (error) {
    return (error as Error).name === 'PasswordException' ? 'encrypted' : 'unreadable'
  }
}

export const Papers = ({ of }: { of: Paper[] }) => <section class='card' aria-label={t('papers')}>
  <h2>{t('papers')}</h2>
  {of.length ? of.map((paper) => <Sheet key={paper.id} paper={paper} />) : <Empty>{t('noPapers')}</Empty>}
</section>

function Sheet({ paper }: { paper: Paper }) {
  const [isLarge, setLarge] = useState(false)
  const file = useLoad(() => open(paper), [paper.id])
  useEffect(() => {
    const opened = file.value
    if (typeof opened !== 'object') return
    return () => 'pdf' in opened ? void opened.pdf.loadingTask.destroy() : URL.revokeObjectURL(opened.picture)
  }, [file.value])
  return <figure class={`paper ${isLarge ? 'large' : ''}`}>
    <figcaption class='row'>
      <bdi>{paper.name}</bdi> <small>{size(paper.size)}</small>
      {paper.encrypted && <Badge tone='bad'>{t('encrypted')}</Badge>}
      <Button plain aria-pressed={isLarge} onClick={() => setLarge(!isLarge)}>{t('larger')}</Button>
    </figcaption>
    <Loaded of={file} rows={3}>{(opened) =>
      typeof opened === 'string' ? <p class='bad'>{t(opened)}</p>
        : 'pdf' in opened ? <Pages pdf={opened.pdf} name={paper.name} />
        : <img src={opened.picture} alt={paper.name} />}
    </Loaded>
  </figure>
}

function Pages({ pdf, name }: { pdf: PDFDocumentProxy; name: string }) {
  const [shown, setShown] = useState(Math.min(3, pdf.numPages))
  return <>
    {Array.from({ length: shown }, (_, at) => <Drawn key={at} pdf={pdf} number={at + 1} name={name} />)}
    {shown < pdf.numPages && <Button onClick={() => setShown(pdf.numPages)}>{t('allPages')}</Button>}
  </>
}

function Drawn({ pdf, number, name }: { pdf: PDFDocumentProxy; number: number; name: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [isBad, setBad] = useState(false)
  useEffect(() => {
    let stop = () => {}
    pdf.getPage(number).then((page) => {
      const { width, height } = page.getViewport({ scale: 1 })
      // Sharp when enlarged; a page of a kilometre does not take all memory.
      const viewport = page.getViewport({ scale: Math.min(1800 / width, 4000 / height) })
      if (!canvas.current) return
      Object.assign(canvas.current, { width: viewport.width, height: viewport.height })
      const task = page.render({ canvas: canvas.current, viewport })
      stop = () => task.cancel()
      return task.promise
    }).catch((error) => error.name === 'RenderingCancelledException' || setBad(true))
    return () => stop()
  }, [])
  if (isBad) return <p class='bad'>{t('unreadable')}</p>
  return <canvas ref={canvas} role='img' aria-label={`${name}, ${t('page', { n: number, all: pdf.numPages })}`} />
}
