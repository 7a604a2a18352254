// Runs the chat gateway as a part of the stack: what functions/chat/main.ts is elsewhere.
const { port }: { port: number } = JSON.parse(Deno.args[0])
const { serveChat } = await import('../../functions/chat/server/serve.ts')
const server = serveChat({ hostname: '127.0.0.1', port })

globalThis.addEventListener('unhandledrejection', (event) => {
  event.preventDefault()
  console.error('unhandled rejection:', event.reason)
})

let stopping = false
const stop = async () => {
  if (stopping) return
  stopping = true
  setTimeout(() => Deno.exit(0), 5000)
  await server.stop()
  // The last frames leave.
  await new Promise((resolve) => setTimeout(resolve, 100))
  Deno.exit(0)
}
Deno.addSignalListener('SIGTERM', stop)
Deno.addSignalListener('SIGINT', () => {})
// The supervisor holds the other end of stdin: when it goes, so do we.
Deno.stdin.readable.pipeTo(new WritableStream()).then(stop, stop)
console.error('@ready')
