import type { Http } from './http.ts'
import type { Schemas } from './operations.ts'

/** A file in a browser, in Node (`openAsBlob`), or a file's address in React Native. */
export type Picture = Blob | { uri: string; name: string; type: string }

export type UploadOptions = {
  signal?: AbortSignal
  /** Called with the part sent, from 0 to 1. */
  onProgress?: (part: number) => void
}

export type ListingPictures = UploadOptions & {
  /** The listing that they are for, if it exists … */
  propertyId?: string
  /** … or a new uuid, which `POST /properties` takes together with its pictures. */
  uploadSessionId?: string
  /** The first picture's position in the listing. */
  startPosition?: number
}

export type Uploads = {
  /** The answer's `mediaId` goes to `PATCH /auth/me`. */
  avatar(picture: Picture, options?: UploadOptions): Promise<Schemas['UploadedAvatar']>
  /** Up to 20 at once. The answer says for each whether it is accepted. */
  pictures(
    pictures: Picture[],
    options?: ListingPictures,
  ): Promise<Schemas['UploadedListingMedia']>
  /** Up to 5 at once, pictures or PDF. The answer says for each whether it is accepted. */
  documents(
    documents: Picture[],
    options: DocumentUpload,
  ): Promise<Schemas['UploadedDocuments']>
}

/** `identityId` is the company or office that they belong to. */
export type DocumentUpload = UploadOptions & { identityId: string }

/** Fields go first, because the service reads a form as it arrives. */
function formOf(field: string, pictures: Picture[], fields: Record<string, unknown> = {}) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) form.append(name, String(value))
  }
  for (const picture of pictures) {
    // A File has its name; React Native takes its own kind of file as it is.
    if ('uri' in picture || 'name' in picture) form.append(field, picture as Blob)
    else form.append(field, picture, 'picture')
  }
  return form
}

export const uploadsBy = (http: Http): Uploads => ({
  avatar: (picture, options) =>
    http.send('post', {
      route: '/media/upload/avatar',
      form: formOf('file', [picture]),
      ...options,
    }),
  pictures: (pictures, { signal, onProgress, ...fields } = {}) =>
    http.send('post', {
      route: '/media/upload/listings',
      form: formOf('files', pictures, fields),
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
    }),
  documents: (documents, { identityId, ...options }) =>
    http.send('post', {
      route: '/media/upload/documents',
      form: formOf('files', documents, { identityId }),
      ...options,
    }),
})
