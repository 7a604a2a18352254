import { realDataApiSettings } from './real-proxy.ts'
import { readStack } from '../config/stack.ts'
import { runRealServer } from '../processes/real-server.ts'

const stack = readStack(process.env)
const { dataApi: port } = stack.ports

await runRealServer(stack, {
  setting: 'REAL_DATA_API',
  port,
  command: stack.realDataApi!,
  settings: () => realDataApiSettings(stack),
  // PostgREST answers 503 while it reads the catalogue.
  answers: async () => (await fetch(`http://127.0.0.1:${port}/`)).status < 500,
})
