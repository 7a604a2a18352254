// Runs the files that mostly wait first, so that the others run in the meantime. Vitest alone would start
// them late, because it begins with the largest files.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const waiting = [
  'test/media/slow.test.ts',
  'test/notifications/push.test.ts',
  'test/base/slow-body.test.ts',
  'local/processes/progress.test.ts',
  'local/bundle/upload.test.ts',
  'local/stack/interrupted.test.ts',
]

export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const waits = ({ moduleId }: TestSpecification) =>
      waiting.some((file) => moduleId.replaceAll('\\', '/').endsWith(file))
    const sorted = await super.sort(files)
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))]
  }
}
