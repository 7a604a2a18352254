import { expect, test } from 'vitest'
import { importFaults } from '../../local/check-imports.ts'

const faultsOf = (files: Record<string, string>) => importFaults(new Map(Object.entries(files)))

test('an import of a later folder is found, in whichever form it is written', () => {
  const later = 'functions/_shared/database/db.ts'
  for (
    const form of [
      `import { call } from '../database/db.ts'`,
      `import type { Call } from '../database/db.ts'`,
      `import {\n  call,\n} from '../database/db.ts'`,
      `export { call } from '../database/db.ts'`,
      `import '../database/db.ts'`,
      `const { call } = await import('../database/db.ts')`,
    ]
  ) {
    expect(faultsOf({ 'functions/_shared/errors/log.ts': form, [later]: '' }), form)
      .toEqual([`up: functions/_shared/errors/log.ts -> ${later}`])
  }
  expect(
    faultsOf({ 'local/auth/server.ts': `import { refuse } from '../../functions/api/app.ts'` }),
  )
    .toEqual(['up: local/auth/server.ts -> functions/api/app.ts'])
  expect(faultsOf({ [later]: `import { log } from '../errors/log.ts'` })).toEqual([])
})

test('so are files and areas that import each other', () => {
  const api = 'functions/api'
  expect(faultsOf({
    [`${api}/chat/one.ts`]: `import type { Two } from './two.ts'`,
    [`${api}/chat/two.ts`]: `import type { One } from './one.ts'`,
  })).toEqual([`circle: ${api}/chat/one.ts -> ${api}/chat/two.ts -> ${api}/chat/one.ts`])
  expect(faultsOf({
    [`${api}/chat/one.ts`]: `import { media } from '../media/one.ts'`,
    [`${api}/media/two.ts`]: `import { chat } from '../chat/two.ts'`,
  })).toEqual([`circle of areas: ${api}/chat -> ${api}/media -> ${api}/chat`])
})
