/** PDFs as far as anybody looks at them. */

/** A PDF that is none but by its beginning and end, with something in between. */
export const pdf = (content = '', end = 'trailer\n<< /Root 1 0 R >>\n%%EOF\n') =>
  Buffer.from(`%PDF-1.7\n${content}\n${end}`, 'latin1')
