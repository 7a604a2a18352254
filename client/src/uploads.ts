import type { Http } from './http.ts'
import type { Schemas } from './operations.ts'

/** A file: in browsers and Node (`openAsBlob`) a Blob, in React Native the URI of the file. */
export type Picture = Blob | { uri: string; name: string; type: string }

export type UploadOptions = {
  signal?: AbortSignal
  /** Called with the fraction that has been sent, from 0 to 1. */
  onProgress?: (part: number) => void
}

export type ListingPictures = UploadOptions & {
  /** The listing that gets the pictures, if it already exists. */
  propertyId?: string
  /** For a new listing: pass the same id to `POST /properties`. By default, a new UUID. */
  uploadSessionId?: string
  /** The position of the first picture in the listing. */
  startPosition?: number
}

export type Uploads = {
  /** Uploads an avatar. To use it, send its `mediaId` to `PATCH /auth/me`. */
  avatar(picture: Picture, options?: UploadOptions): Promise<Schemas['UploadedAvatar']>
  /** Uploads up to 20 pictures at once. The response states for each whether it was accepted. */
  pictures(
    pictures: Picture[],
    options?: ListingPictures,
  ): Promise<Schemas['UploadedListingMedia']>
  /** Uploads up to 5 pictures or PDFs at once. The response states for each whether it was accepted. */
  documents(
    documents: Picture[],
    options: DocumentUpload,
  ): Promise<Schemas['UploadedDocuments']>
}

/** `identityId` is the company or office that the documents belong to. */
export type DocumentUpload = UploadOptions & { identityId: string }

/** Puts the fields before the files, because the service parses the form while it is being uploaded. */
function formOf(field: string, pictures: Picture[], fields: Record<string, unknown> = {}) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) form.append(name, String(value))
  }
  for (const picture of pictures) {
    // A File already has a name, and React Native accepts its own file objects unchanged.
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
