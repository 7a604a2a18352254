/** Starts only the facade, without the local stack's proxy and with unlimited worker lifetime. */
import { launch } from '../local/processes/launch.ts'
import { functionsProgram } from '../local/functions/programs.ts'
import { functionsEnvironment, readStack } from '../local/config/stack.ts'
import type { Stack } from '../test/support/stack.ts'

export async function startFunctions({ folder, url }: Stack, settings = {}) {
  const env = {
    ...process.env,
    ...settings,
    PORT: new URL(url).port,
    LOCAL_DATA: folder,
    RATES: 'off',
  }
  const stack = readStack(env)
  const environment = functionsEnvironment(stack, env)
  const { port, stop } = await launch(functionsProgram(stack, {
    name: 'bench',
    port: 0,
    functions: stack.config.functions.filter(({ name }) => name === 'api'),
    settings: environment,
  }))
  return { url: `http://127.0.0.1:${port}`, databaseUrl: environment.FACADE_DB_URL, stop }
}
