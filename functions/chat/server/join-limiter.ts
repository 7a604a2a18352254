/** Limits the number of joins per second. Joins wait in order of arrival. */
export class JoinLimiter {
  private readonly waiting: (() => void)[] = []
  private timer: ReturnType<typeof setInterval> | undefined
  private left: number
  private readonly perSecond: number

  constructor(perSecond: number) {
    this.perSecond = perSecond
    this.left = perSecond / 2
  }

  whenFree(join: () => void): void {
    this.waiting.push(join)
    this.timer ??= setInterval(() => this.refill(), 20)
    this.letThrough()
  }

  private refill() {
    this.left = Math.min(this.perSecond / 2, this.left + this.perSecond / 50)
    this.letThrough()
    if (this.waiting.length > 0 || this.left < this.perSecond / 2) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  private letThrough() {
    while (this.left >= 1 && this.waiting.length > 0) {
      this.left--
      this.waiting.shift()!()
    }
  }
}
