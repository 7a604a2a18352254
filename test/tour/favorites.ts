import { ask, must, step } from './guide.ts'
import { ids, offered } from './world.ts'

export async function favorites() {
  await step('Saves a listing and forgets it again', async () => {
    for (const isFavorite of [true, false]) {
      const { body } = await ask('POST', `/favorites/${offered.rent}`)
      must(body.isFavorite === isFavorite, `isFavorite was to be ${isFavorite}`)
      must(
        (await ask('GET', `/favorites/check/${offered.rent}`)).body === isFavorite,
        'check was to agree',
      )
      must(
        (await ask('GET', '/favorites/ids')).body.ids.includes(offered.rent) === isFavorite,
        'the ids were to agree',
      )
      must(
        ids((await ask('GET', '/favorites')).body).length === Number(isFavorite),
        'the list was to agree',
      )
    }
  })
}
