import { startPushes } from './push/process.ts'
import './push/acts.ts'
import './push/between.ts'
import './push/sending.ts'
import './push/answers.ts'
import './push/badge.ts'
import './push/processes.ts'
import './push/limits.ts'
import './push/messages.ts'
import './push/listings.ts'

startPushes()
