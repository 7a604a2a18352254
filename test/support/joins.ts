/** Returns whether to repeat a join: Realtime may first have to create its partitions. */
export const isTemporary = (error: Error | undefined): boolean =>
  /MissingPartition|InitializingProject/.test(error?.message ?? '')
