/** Whether to retry a join: Realtime may still be creating its partitions. */
export const isTemporary = (error: Error | undefined): boolean =>
  /MissingPartition|InitializingProject/.test(error?.message ?? '')
