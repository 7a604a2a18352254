/** An error that the user can act on. Only its message is shown, without a stack trace. */
export class UserError extends Error {}
