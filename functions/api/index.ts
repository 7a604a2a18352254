/** Edge function `api`: the whole REST facade. */
import { app } from './app.ts'

Deno.serve(app.fetch)
