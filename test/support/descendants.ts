import { execFileSync } from 'node:child_process'

export type Process = { pid: number; parent: number; megabytes: number; command: string }

export function descendants(of: number): Process[] {
  const list = execFileSync('ps', ['-eo', 'pid=,ppid=,rss=,args='], { encoding: 'utf8' })
  const all = list.split('\n').flatMap((line): Process[] => {
    const [, pid, parent, size, command] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    if (!command) return []
    const megabytes = Math.round(Number(size) / 1024)
    return [{ pid: Number(pid), parent: Number(parent), megabytes, command }]
  })
  const below = (pid: number): Process[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)])
  return below(of)
}
