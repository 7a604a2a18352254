export const introduction = `
The backend of a property marketplace for Kuwait. JSON over HTTPS; keys are camelCase, ids are uuids.
Chat events are described as AsyncAPI: \`GET /asyncapi.json\`.

## Sign in

1. \`POST /auth/register\` with a Kuwaiti phone sends a code of six digits by SMS;
   \`POST /auth/register/verify-otp\` takes it and answers a session. An email is an account at once:
   go on with \`POST /auth/login\`, which also takes a phone.
2. Send \`Authorization: Bearer <accessToken>\` with every request. Routes that are public take a token
   too, and answer what is yours: without it \`isFavorite\` is false everywhere.
3. Before \`expiresAt\`, or at the first 401 \`token_expired\`, call \`POST /auth/refresh\` with the
   \`refreshToken\`. It is used once: keep the new pair before you go on, and let only one request
   refresh at a time. 401 \`token_invalid\` from there means that the session is over.

A token that is not valid is refused where one is needed. Public routes ignore it and say so in the
header \`X-Auth-Ignored\`.

## Who acts

An account has an individual identity, and may have companies and offices. It acts as one of them at a
time, on all devices: \`POST /auth/identity/switch\` chooses, \`activeIdentity\` of the session says
which. Listings, favorites, conversations, reviews, plan, wallet and invoices are those of the acting
identity; devices, settings, blocks and notifications are those of the account. Who sends
\`X-Expect-Identity\` is refused with 409 \`identity_changed\` when it is another by now.

## Lists

A list answers \`items\` and \`nextCursor\`. Send it as \`cursor\` for the next page; null is the end.
A cursor is opaque and belongs to its query: with another it is 422 \`cursor_invalid\`. Pages join
without a gap or a repeat while rows come and go. There are no totals.

The home feed alone has numbered pages. Its first answer names a \`snapshot\`: send it with the pages
that follow, for up to 6 hours.

## Errors

Every error has one shape, \`Problem\`. Programs look at \`error.code\`; each operation lists its own,
and \`GET /errors\` has them all. People read \`error.message\`, Arabic, or English with
\`Accept-Language: en\`. \`error.fields\` says what is wrong with the input: a
field that is not there is \`required\`, a text \`too_short\` or \`too_long\`, a number \`too_small\` or \`too_big\`. Questions to support name
\`error.requestId\`. What belongs to somebody else is 404, just as what is missing.

400 is a body that is not JSON, 413 and 415 one that is too large or of another type, 422 anything else
that is wrong with a request, also a parameter or field that the operation does not know. 401 asks who
you are, 403 says that you may not, 409 that the state does not allow it, 402 that money or quota is
missing. 429 and 503 say in \`Retry-After\` how many seconds to wait; a 503 without it is about
something that is not configured. Reads can always be sent again; writes only where they can be repeated.

## Idempotency

A POST with the header \`Idempotency-Key\` in its description takes one: after a broken connection
send the same request with the same key, and it happens once. No other POST does. PUT and DELETE can be
repeated as they are (404 says that it is gone), a message by its \`clientMessageId\`. A favorite sent
again is taken back.

## Rates

What may be done how often is counted by account, without a token by address. The headers
\`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` say what is left; above it is 429
\`rate_limited\`. A code is sent every 45 seconds at most, and a few an hour to a phone or email.

## Values

\`null\` is an absent field, unless it is said to clear something. Ids may be in any case. Times are
ISO 8601 in UTC with microseconds: keep them as text, as a date in most languages loses some. Days are
those of Kuwait. Amounts are Kuwaiti dinars: numbers with up to three decimals. Areas are square metres.
Text is trimmed; names and codes are normalised (NFKC), what people write stays as typed (NFC). Digits
may be Arabic wherever digits are typed.
Codes of vocabularies are those of \`GET /meta/enums\`, \`/meta/kinds\` and \`/meta/amenities\`;
governorates and areas those of \`/meta\` too.

## What stays

This is v1. What is there stays; answers may get new fields, and vocabularies new codes: ignore what you
do not know. A route that will go all the same is \`deprecated\` here and says so with every answer, a
year ahead, by \`Deprecation\` and \`Sunset\`.
`.trim()

export const tags = [
  ['sign-in', 'Registration, sessions, passwords, and signing in with Google and Apple.'],
  ['accounts', 'The calling account: profile, identities, export and deletion.'],
  ['settings', 'Language, notifications, quiet hours and privacy of the account.'],
  ['properties', 'Listings: their fields, states, pictures, auctions and contacts.'],
  ['media', 'Uploads of pictures and documents.'],
  ['favorites', 'Listings that the acting identity has saved.'],
  ['search', 'Search by filters and words, in five strategies.'],
  ['feed', 'The home feed, in numbered pages of a snapshot.'],
  ['map', 'Listings in a box of the map, and prices by area.'],
  ['organisations', 'Companies and offices: as everybody sees them, and as they see themselves.'],
  ['reviews', 'Reviews of identities by those who had contact with them.'],
  [
    'chat',
    'Conversations, messages and blocks. Live events come from Realtime or the chat gateway: see ' +
    '`GET /asyncapi.json`.',
  ],
  ['notifications', 'Notifications of the account.'],
  ['devices', 'Devices that receive pushes.'],
  ['reports', 'Reports of listings, advertisers, messages and reviews to the administrators.'],
  ['plans', 'Plans and subscriptions of the acting identity.'],
  ['wallet', 'The wallet of the acting identity.'],
  ['invoices', 'Invoices and receipts of the acting identity.'],
  ['payments', 'Paying an invoice, and the webhooks of payment providers.'],
  ['meta', 'Vocabularies and places: public, and rarely changed.'],
  ['admin', 'For administrators: accounts, identities, moderation, refunds, audit.'],
  ['service', 'The service itself.'],
].map(([name, description]) => ({ name, description }))
