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
  // PostgREST responds with 503 until it has read the catalogue.
  answers: async () => (await fetch(`http://127.0.0.1:${port}/`)).status < 500,
})
