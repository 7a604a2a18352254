/** Returns whether a join has to wait: the first in three days precedes Realtime's partitions. */
export const isTemporary = (error: Error | undefined): boolean =>
  /MissingPartition|InitializingProject/.test(error?.message ?? '')
