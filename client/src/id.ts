/**
 * Returns a version 4 UUID. It need not be secret, so Math.random will do where React Native lacks crypto.
 */
export function newId(): string {
  const { crypto } = globalThis as { crypto?: { randomUUID?: () => string } }
  if (crypto?.randomUUID) return crypto.randomUUID()
  const digit = (letter: string) => {
    const value = Math.floor(Math.random() * 16)
    return (letter === 'x' ? value : value % 4 + 8).toString(16)
  }
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, digit)
}
