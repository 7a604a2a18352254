/** True if waiting is enough: a first join, or one after three days, is ahead of Realtime's partitions. */
export const isTemporary = (error: Error | undefined): boolean =>
  /MissingPartition|InitializingProject/.test(error?.message ?? '')
