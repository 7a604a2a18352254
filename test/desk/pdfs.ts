// PDFs with one page: a plain one, and one with every kind of action that a viewer may run.

/** Returns a valid PDF with these objects, numbered from 1. */
function written(objects: string[]): Buffer {
  let text = '%PDF-1.7\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = `/Size ${objects.length + 1}`
  const start = text.length
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`
  return Buffer.from(
    `${text}trailer\n<< ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
    'latin1',
  )
}

const stream = (head: string, body: string) =>
  `<< ${head} /Length ${body.length} >>\nstream\n${body}\nendstream`

const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
const drawn = (words: string) =>
  `BT /F 40 Tf 40 700 Td (${words}) Tj ET 1 0 0 rg 100 300 300 200 re f`

export const plainPdf = (words: string): Buffer =>
  written([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R
      /Resources << /Font << /F 5 0 R >> >> >>`,
    stream('', drawn(words)),
    font,
  ])

/**
 * Returns a page with these words. Its actions run `script`, and open, load and
 * send to addresses under `url`.
 */
export function hostilePdf(
  words: string,
  { script, url }: { script: string; url: string },
): Buffer {
  const js = `<< /S /JavaScript /JS (${script.replace(/[()\\]/g, '\\$&')}) >>`
  const link = (action: string, at: number) =>
    `<< /Type /Annot /Subtype /Link /Rect [0 ${at} 600 ${at + 100}] /A ${action} >>`
  const field = `<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /Rect [0 0 600 100]
    /AA << /Fo ${js} /K ${js} /F ${js} /E ${js} /U ${js} >> /A ${js} >>`
  return written([
    `<< /Type /Catalog /Pages 2 0 R /OpenAction ${js} /AA << /WC ${js} /WS ${js} >>
      /Names << /JavaScript << /Names [(a) ${js}] >>
        /EmbeddedFiles << /Names [(a.html) 6 0 R] >> >>
      /AcroForm << /Fields [8 0 R] /NeedAppearances true >> /PageMode /UseAttachments >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R
      /Resources << /Font << /F 5 0 R >> /XObject << /Out 9 0 R >> >>
      /AA << /O ${js} /C ${js} >>
      /Annots [8 0 R
        ${link(`<< /S /URI /URI (javascript:${script}) >>`, 600)}
        ${link(`<< /S /URI /URI (${url}/uri) >>`, 500)}
        ${link(`<< /S /Launch /F (${url}/launch) /NewWindow true >>`, 400)}
        ${link(`<< /S /GoToR /F << /FS /URL /F (${url}/remote) >> /D [0 /Fit] >>`, 300)}
        ${link(`<< /S /SubmitForm /F << /FS /URL /F (${url}/form) >> >>`, 200)}
        << /Type /Annot /Subtype /FileAttachment /Rect [0 100 600 200] /FS 6 0 R >>] >>`,
    stream('', `${drawn(words)} /Out Do`),
    font,
    `<< /Type /Filespec /F (a.html) /EF << /F 7 0 R >> >>`,
    stream('/Type /EmbeddedFile /Subtype /text#2Fhtml', `<script>${script}</script>`),
    field,
    // The data of this picture is external: a viewer would load it from another address.
    stream(
      `/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8
      /F << /FS /URL /F (${url}/picture) >>`,
      '',
    ),
  ])
}
