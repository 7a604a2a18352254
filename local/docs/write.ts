// npm run docs: regenerates pages of docs/.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../stack/settings.ts'
import { pages } from './pages.ts'

for (const [path, text] of Object.entries(pages)) writeFileSync(join(root, path), text)
