// Test files that only nightly runs include: each takes at least 20 s of CPU time and tests code that rarely
// changes. They also run when they are named, or when `--since` finds that they are affected.
export const atNight = [
  // Building, deploying and migrating a project.
  'local/bundle/upload.test.ts',
  'local/deploy/deploy.test.ts',
  'local/schema/check.test.ts',
  'local/schema/migrations.test.ts',
  'local/schema/upgrade.test.ts',
  'test/whole/restore.test.ts',
  // The local stack in other situations than a normal start.
  'local/data-api/studio-rows.alone.test.ts',
  'local/functions/workers.test.ts',
  'local/processes/progress.test.ts',
  'local/realtime/crash.test.ts',
  'local/stack/interrupted.test.ts',
  'local/stack/real-servers.test.ts',
  'local/stack/refused-by-system.test.ts',
  // Killed processes, outages, and many people who share an IP address.
  'test/accounts/crowded-address.alone.test.ts',
  'test/accounts/shared-address.alone.test.ts',
  'test/base/replica.alone.test.ts',
  'test/base/runbook.alone.test.ts',
  'test/base/small-pool.alone.test.ts',
  'test/base/workers.alone.test.ts',
  'test/billing/crash.alone.test.ts',
  'test/chat/crash.alone.test.ts',
  'test/chat/gateway-limits.test.ts',
  'test/media/crash.test.ts',
]
