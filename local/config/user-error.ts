/** An error that a person can act on; it is shown as a message, without a stack trace. */
export class UserError extends Error {}
