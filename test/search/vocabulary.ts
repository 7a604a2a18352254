/** Which words a misspelt one is taken for: those that were counted, and that two accounts wrote. */
import { database, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'

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

/** Has another account write words that a listing has, for a moment: they can be guessed from then on. */
export async function spread(...words: string[]) {
  await countWords(...words)
  const other = await signUp()
  const id = await insertListing(other.identityId, { title_ar: words.join(' ') })
  await countWords(...words)
  await database().query(`update public.properties set status = 'paused' where id = $1`, [id])
  await countWords(...words)
}
