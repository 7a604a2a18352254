/** An error that a person can act on: shown as a message, without a stack trace. */
export class UserError extends Error {}
