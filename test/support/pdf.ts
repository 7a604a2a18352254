/** Makes a file that is a PDF only by its beginning and end. */
export const pdf = (content = '', end = 'trailer\n<< /Root 1 0 R >>\n%%EOF\n') =>
  Buffer.from(`%PDF-1.7\n${content}\n${end}`, 'latin1')
