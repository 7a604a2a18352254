/** Makes a file that only begins and ends like a PDF. */
export const pdf = (content = '', end = 'trailer\n<< /Root 1 0 R >>\n%%EOF\n') =>
  Buffer.from(`%PDF-1.7\n${content}\n${end}`, 'latin1')
