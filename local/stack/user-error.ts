/** A reason not to go on that a person can act on: shown as one sentence, without a stack. */
export class UserError extends Error {}
