/** Joins of Realtime's channels that are refused for a moment. */

/**
 * Whether supabase-js, which joins again by itself, need only be waited for: the first join of a project,
 * or after three days, comes before Realtime has made its partitions.
 */
export const isTemporary = (error: Error | undefined): boolean =>
  /MissingPartition|InitializingProject/.test(error?.message ?? '')
