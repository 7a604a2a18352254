// A unique constraint that ignores the state of its rows holds for ever: a row that was decided, withdrawn or
// ended still blocks later rows. So this list says, for each such constraint, why that is right.
import { expect, test } from 'vitest'
import { database } from '../support/client.ts'

const forgetsTheState: Record<string, string> = {
  accounts_email_key: 'every state but deleted has its email; a deletion empties it',
  accounts_phone_key: 'as its email',
  documents_one_row_a_file: 'a file has one row, which goes with it',
  duplicates_pair_key: 'what was decided about a pair stays decided; gone is opened again',
  identities_account_key: 'for foreign keys',
  identities_one_individual_key: 'a person has one, which is closed only with the account',
  invoices_purpose_key: 'for foreign keys',
  invoices_year_and_serial_key: 'a number is given once, also if the invoice is void',
  media_one_row_a_file: 'a file has one row, which goes with it',
  media_positions_are_distinct: 'a discarded picture has no listing and no position',
  messages_are_numbered_once: 'a hidden message keeps its place',
  messages_are_sent_once: 'a message that is sent again is the one that was hidden',
  organisations_pkey: 'a page has one identity, which keeps it when it is closed',
  organisations_slug_key: 'a closed page gives its address back',
  payment_events_once_key: 'an event is booked once, whatever came of it',
  payments_provider_payment_key: 'money is booked once',
  payments_ref_key: 'a charge belongs to one payment, whatever came of it',
  properties_ref_no_key: 'a number is given once, also if the listing is deleted',
  refunds_provider_ref_key: 'a refund at the provider is booked once, whatever came of it',
  review_notices_pkey: 'that the review is hidden stays known when it is deleted, for two years',
  reviews_once_key:
    'a hidden review is in the way of another, for which the author has no second one',
  sandbox_charges_reference_key: "as a provider's",
  social_tokens_pkey: 'a token is used once; what failed is deleted or lapses',
  subscription_intervals_one_per_invoice_key:
    'an invoice pays for one interval, also if it was taken back',
  suspensions_pkey: 'a listing that is suspended again is known as it is then',
}

test('each uniqueness that forgets the state of its rows says what the state means', async () => {
  const { rows } = await database().query<{ name: string }>(
    `select index_class.relname as name
     from pg_index
     join pg_class as index_class on index_class.oid = indexrelid
     join pg_class as of_table on of_table.oid = indrelid
     where indisunique and of_table.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
       and pg_get_indexdef(indexrelid) !~ ' \\(id\\)$'
       and exists (
         select from pg_attribute
         where attrelid = indrelid and attname = any ($1)
       )
       and not exists (
         select from unnest($1::text[]) as column_name
         where pg_get_indexdef(indexrelid) ~ ('\\m' || column_name || '\\M')
       )
     order by 1`,
    [[
      'status',
      'state',
      'hidden_at',
      'discarded_at',
      'removed_at',
      'taken_back_at',
      'ended_at',
      'used_at',
      'done_at',
      'read_at',
      'settled_at',
      'holds_licence',
      'archived_at',
      'deleted_at',
    ]],
  )
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(forgetsTheState).sort())
})
