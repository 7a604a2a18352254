import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { build } from 'vite'

const origin = 'http://localhost:5173'

export async function buildExample(service: string): Promise<Map<string, string>> {
  const built = await build({
    configFile: 'examples/web/vite.config.ts',
    logLevel: 'error',
    define: { 'import.meta.env.VITE_API': JSON.stringify(service) },
    build: { write: false, minify: false },
  })
  const { output } = [built].flat()[0] as { output: ({ fileName: string } & Content)[] }
  return new Map(
    output.map((file) => [file.fileName, 'code' in file ? file.code : `${file.source}`]),
  )
}
type Content = { code: string } | { source: string | Uint8Array }

const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }

export async function openExample(
  browser: Browser,
  files: Map<string, string>,
  device: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ locale: 'ar-KW', ...device })
  await context.route(`${origin}/**`, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1) || 'index.html'
    await route.fulfill({ contentType: types[name.split('.').at(-1)!]!, body: files.get(name)! })
  })
  const page = await context.newPage()
  await page.goto(origin)
  return page
}
