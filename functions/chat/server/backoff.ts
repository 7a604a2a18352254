const pauses = [250, 500, 1000, 2000, 5000]

/** Milliseconds until the next try: longer each time, and random so that not all retry together. */
export const retryPause = (failures: number) =>
  pauses[Math.min(failures, pauses.length - 1)] * (0.75 + Math.random() / 2)
