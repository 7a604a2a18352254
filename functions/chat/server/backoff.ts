const pauses = [250, 500, 1000, 2000, 5000]

/**
 * Milliseconds until the next attempt. The pause grows with each failure and has jitter, so that not all
 * clients retry at once.
 */
export const retryPause = (failures: number) =>
  pauses[Math.min(failures, pauses.length - 1)] * (0.75 + Math.random() / 2)
