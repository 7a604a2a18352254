/** The exports of the package. Chat is in `kuwait-property-client/chat`. */
export { type Client, type ClientOptions, createClient } from './client.ts'
export { type Auth } from './auth.ts'
export {
  type AnyApiError,
  ApiError,
  type ErrorCode,
  type FieldError,
  isApiError,
  type RouteCode,
  type RouteError,
} from './errors.ts'
export type {
  Answer,
  CallOptions,
  Fields,
  Input,
  ListRoute,
  Method,
  Route,
  Schemas,
} from './operations.ts'
export type { Database } from './database.ts'
export { readNumber, type TypedNumber } from './numbers.ts'
export { type List, listOf } from './pages.ts'
export { pictureIn } from './pictures.ts'
export { memoryStorage, type Session, type SessionListener, type Storage } from './session.ts'
export { whileTyping } from './typing.ts'
export type { DocumentUpload, ListingPictures, Picture, UploadOptions, Uploads } from './uploads.ts'
export { newId } from './id.ts'
