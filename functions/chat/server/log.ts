/** One JSON line; never a token or what people write to one another. */
export const log = (fields: Record<string, unknown>) =>
  console.log(JSON.stringify({ time: new Date().toISOString(), ...fields }))
