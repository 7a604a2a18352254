import { expect } from 'vitest'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { defaultSettings, startFacade, testLocally } from '../support/facade.ts'
import { waitUntil } from '../support/wait.ts'

testLocally('idle connections of a worker go, so that others get in', async () => {
  const proxy = await startCountingProxy(defaultSettings().FACADE_DB_URL!)
  const facade = await startFacade({
    ENVIRONMENT: 'production',
    FACADE_DB_URL: proxy.url,
    FACADE_DB_POOL: '3',
  })
  try {
    const burst = () => Promise.all(Array.from({ length: 6 }, () => facade.get('/search?limit=1')))
    for (const { status } of await burst()) expect(status).toBe(200)
    await facade.get('/health')
    expect(proxy.most()).toBeGreaterThan(1)
    expect(proxy.most()).toBeLessThanOrEqual(4)
    await waitUntil('none is left', () => proxy.connections() === 0)
    for (const { status } of await burst()) expect(status).toBe(200)
  } finally {
    await facade.stop()
    proxy.stop()
  }
})
