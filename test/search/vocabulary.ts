// A word becomes a candidate for misspelt words once it is counted and five accounts have written it.
import { database } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'

/** Runs the counting until all changes of these words are counted; a job may do so too. */
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

/** Pretends that five accounts with a phone have written these words, which makes the words candidates. */
export async function spread(...words: string[]) {
  await countWords(...words)
  await database().query(
    `update private.search_vocabulary set writers = '{1,2,3,4,5}'
     where word = any (private.search_words($1))`,
    [words.join(' ')],
  )
}

/** Counts the suggestions, once no other run holds the job's lock; that run may have begun too early. */
export const countSuggestions = () =>
  waitUntil(
    'suggestions are counted',
    async () =>
      Number((await database().query(`select private.count_suggestions('0') as n`)).rows[0].n) > 0,
  )
