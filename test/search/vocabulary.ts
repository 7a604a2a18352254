/** Which words a misspelt one is taken for: those that were counted, and that five accounts wrote. */
import { database } from '../support/client.ts'

/** Counts what was written until all changes of these words are counted; a job may be doing it, too. */
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

/** As if five accounts with a phone had written words that a listing has: they can be guessed from then on. */
export async function spread(...words: string[]) {
  await countWords(...words)
  await database().query(
    `update private.search_vocabulary set writers = '{1,2,3,4,5}'
     where word = any (private.search_words($1))`,
    [words.join(' ')],
  )
}
