// When Postgres parses an expression that it printed itself, the result can differ slightly: `(a and b) and
// (c and d)` becomes `a and b and (c and d)`. So both sides of a comparison are normalized by removing the
// inner parentheses from chains of `and` (and of `or`).

type Group = (string | Group)[]

export function normaliseExpression(text: string): string {
  if (!/ (AND|OR) /.test(text)) return text
  const tokens = text.match(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|[^'"()]+|['"]/g) ?? []
  const { group, rest } = parse(tokens, 0)
  // Postgres never prints unbalanced parentheses, so such a text is not an expression and stays unchanged.
  return rest < tokens.length ? text : print(simplify(group))
}

function parse(tokens: string[], from: number): { group: Group; rest: number } {
  const group: Group = []
  let index = from
  for (; index < tokens.length && tokens[index] !== ')'; index++) {
    if (tokens[index] !== '(') {
      group.push(tokens[index]!)
      continue
    }
    const inner = parse(tokens, index + 1)
    group.push(inner.group)
    index = inner.rest
  }
  return { group, rest: index }
}

function simplify(group: Group): Group {
  const inner = group.map((part) => typeof part === 'string' ? part : simplify(part))
  const joint = connective(inner)
  return inner.flatMap((part, index): Group => {
    if (typeof part === 'string' || !isOperand(inner, index)) return [part]
    const onlyOne = inner.length === 1
    return onlyOne || (joint && connective(part) === joint) ? part : [part]
  })
}

/** Returns the operator (AND or OR) that joins all operands of a group, or undefined if they are mixed. */
function connective(group: Group): string | undefined {
  const words = group.filter((part) => typeof part === 'string')
    .flatMap((part) => part.match(/(?<= |^)(AND|OR)(?= |$)/g) ?? [])
  return new Set(words).size === 1 && !group.some(hasQuery) ? words[0] : undefined
}

/** Whether a part contains a query. It is not changed, because AND and OR can belong to clauses there. */
function hasQuery(part: string | Group): boolean {
  return typeof part === 'string' && /\b(SELECT|WHERE|JOIN|CASE|CHECK|USING)\b/.test(part)
}

function isOperand(group: Group, index: number): boolean {
  const [before, after] = [group[index - 1], group[index + 1]]
  const free = (part: string | Group | undefined, pattern: RegExp) =>
    part === undefined || (typeof part === 'string' && pattern.test(part))
  return free(before, /(^|\s)(AND|OR) $/) && free(after, /^ (AND|OR)(\s|$)/)
}

function print(group: Group): string {
  return group.map((part) => typeof part === 'string' ? part : `(${print(part)})`).join('')
}
