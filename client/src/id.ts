/** Returns a version 4 uuid, without crypto if React Native lacks it, because the id need not be secret. */
export function newId(): string {
  const { crypto } = globalThis as { crypto?: { randomUUID?: () => string } }
  if (crypto?.randomUUID) return crypto.randomUUID()
  const digit = (letter: string) => {
    const value = Math.floor(Math.random() * 16)
    return (letter === 'x' ? value : value % 4 + 8).toString(16)
  }
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, digit)
}
