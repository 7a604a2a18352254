/** Pictures and documents on their way up. */
import type { Http } from './http.ts'
import type { Schemas } from './operations.ts'

/** A file of a browser, of Node (`openAsBlob`), or of React Native: the address of a file there. */
export type Picture = Blob | { uri: string; name: string; type: string }

export type UploadOptions = {
  signal?: AbortSignal
  /** Hears how much was sent, from 0 to 1. */
  onProgress?: (part: number) => void
}

export type ListingPictures = UploadOptions & {
  /** The listing that they are for, if there is one yet … */
  propertyId?: string
  /** … or a new uuid: `POST /properties` takes it, and the pictures with it. */
  uploadSessionId?: string
  /** The position of the first among the pictures of the listing. */
  startPosition?: number
}

export type Uploads = {
  /** The answer's `mediaId` goes to `PATCH /auth/me`. */
  avatar(picture: Picture, options?: UploadOptions): Promise<Schemas['UploadedAvatar']>
  /** Up to 20 at once. The answer says of each whether it is good. */
  pictures(
    pictures: Picture[],
    options?: ListingPictures,
  ): Promise<Schemas['UploadedListingMedia']>
  /** Up to 5 at once, pictures or PDF. The answer says of each whether it is good. */
  documents(
    documents: Picture[],
    options: DocumentUpload,
  ): Promise<Schemas['UploadedDocuments']>
}

/** Of a company or office: `identityId` is whose they are. */
export type DocumentUpload = UploadOptions & { identityId: string }

/** Fields go first: the service reads a form as it comes. */
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
