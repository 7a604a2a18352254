// Forwards connections from the functions to the database and delays some responses (LATE_ANSWERS).
import { connect, createServer } from 'node:net'
import { readStack } from '../config/stack.ts'
import { lateAnswers } from '../processes/late-answers.ts'
import { endWithSupervisor, listen, readyLine } from '../processes/lifecycle.ts'

const { ports, lateSeed } = readStack(process.env)
const hold = lateAnswers(lateSeed)

const server = createServer({ noDelay: true }, (client) => {
  const database = connect({ port: ports.database, host: '127.0.0.1', noDelay: true })
  let answered = true
  client.on('data', () => (answered = false))
  database.on('data', () => {
    // Only the first chunk of a response is delayed; the other chunks follow it.
    if (!answered) hold(client)
    answered = true
  })
  client.pipe(database).pipe(client)
  client.on('error', () => database.destroy()).on('close', () => database.destroy())
  database.on('error', () => client.destroy()).on('close', () => client.destroy())
})
await listen(server, ports.lateDatabase)
endWithSupervisor(() => Promise.resolve(server.close()))
console.error(readyLine)
