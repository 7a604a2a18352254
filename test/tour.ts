// `npm run tour` runs the main flows against a running stack and prints each step with its requests and
// responses. It stops with exit code 1 at the first violation of the contract. It uses the stack of this
// folder (LOCAL_DATA, else .local), or another project with `-- --url https://…` and INBOX_URL, DATABASE_URL
// and SUPABASE_PUBLISHABLE_KEY in the environment.
import { accounts, signOut } from './tour/accounts.ts'
import { admin } from './tour/admin.ts'
import { chat } from './tour/chat.ts'
import { favorites } from './tour/favorites.ts'
import { finish } from './tour/guide.ts'
import { media } from './tour/media.ts'
import { notifications } from './tour/notifications.ts'
import { money } from './tour/money.ts'
import { organisations } from './tour/organisations.ts'
import { properties } from './tour/properties.ts'
import { search } from './tour/search.ts'

await accounts()
await properties()
await search()
await favorites()
await chat()
await notifications()
await organisations()
await media()
await money()
await admin()
await signOut()
await finish()
