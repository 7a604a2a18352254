// A word is offered as a correction of misspelt words once it is counted and five accounts have written it.
import { database } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'

/** Counts words until all changes of these words are counted. A job may also count them. */
export async function countWords(...words: string[]) {
  for (let left = true; left;) {
    await database().query('select private.count_search_words()')
    const { rows: [row] } = await database().query(
      `select exists (
         select from private.search_word_changes
         where added && private.search_words($1) or removed && private.search_words($1)
       ) as left`,
      [words.join(' ')],
    )
    left = row.left
  }
}

/** Pretends that five accounts with a phone have written these words, so that they become corrections. */
export async function spread(...words: string[]) {
  await countWords(...words)
  await database().query(
    `update private.search_vocabulary set writers = '{1,2,3,4,5}'
     where word = any (private.search_words($1))`,
    [words.join(' ')],
  )
}

/** Waits until no other run, which may have begun too early, holds the job's lock; counts suggestions. */
export const countSuggestions = () =>
  waitUntil(
    'suggestions are counted',
    async () =>
      Number((await database().query(`select private.count_suggestions('0') as n`)).rows[0].n) > 0,
  )
