/** A page that shows the OpenAPI document. It loads nothing, so it works offline. */
import { html, raw } from 'hono/html'

type Schema = Record<string, unknown> & {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  description?: string
}
type Operation = {
  operationId: string
  summary?: string
  tags?: string[]
  security?: unknown[]
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
}
type Document = {
  info: { title: string; version: string; description?: string }
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
}

const style = raw(`
  :root { color-scheme: light dark }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  nav { columns: 14rem; margin-bottom: 2rem }
  details { border: 1px solid #8884; border-radius: .5rem; margin: .5rem 0; padding: .5rem .75rem }
  summary { cursor: pointer } summary code { font-weight: 600 }
  .method { display: inline-block; width: 4.5rem; font: 600 .8rem ui-monospace, monospace }
  .lock { opacity: .6 } h2 { margin-top: 2.5rem; text-transform: capitalize }
  table { border-collapse: collapse; width: 100% } td, th { text-align: start; padding: .2rem .5rem;
  border-top: 1px solid #8884; vertical-align: top } code { font-family: ui-monospace, monospace }`)

const nameOf = (schema: Schema) => schema.$ref?.split('/').at(-1)

/** A type in a word or two; records that have a name link to it. */
function type(schema: Schema): ReturnType<typeof html> {
  const name = nameOf(schema)
  if (name) return html`<a href="#${name}">${name}</a>`
  if (schema.enum) return html`${schema.enum.map(String).join(' | ')}`
  const either = schema.anyOf ?? schema.oneOf
  if (either) return html`${either.map((one, i) => html`${i ? ' | ' : ''}${type(one)}`)}`
  if (schema.items) return html`[ ${type(schema.items)} ]`
  if (schema.properties) return fields(schema)
  return html`${[schema.type ?? 'any'].flat().join(' | ')}`
}

function fields({ properties = {}, required = [] }: Schema) {
  return html`<table>${
    Object.entries(properties).map(([name, schema]) =>
      html`
        <tr>
          <td><code>${name}${required.includes(name) ? '' : '?'}</code></td>
          <td>${type(schema)}</td>
          <td>${schema.description ?? ''}</td>
        </tr>
      `
    )
  }</table>`
}

function operation(path: string, method: string, route: Operation) {
  const body = Object.values(route.requestBody?.content ?? {})[0]?.schema
  return html`<details id="${route.operationId}"><summary>
    <span class="method">${method.toUpperCase()}</span> <code>${path}</code>
    ${route.security ? html`<span class="lock" title="needs a token">🔒</span>` : ''}
    — ${route.summary ?? ''}</summary>
    ${
    route.parameters?.length
      ? html`<h4>Parameters</h4>${
        fields({
          properties: Object.fromEntries(route.parameters.map((one) => [one.name, one.schema])),
          required: route.parameters.filter((one) => one.required).map((one) => one.name),
        })
      }`
      : ''
  }
    ${body ? html`<h4>Body</h4>${type(body)}` : ''}
    <h4>Answers</h4><table>${
    Object.entries(route.responses).map(([status, { description, content = {} }]) =>
      html`
        <tr>
          <td>${status}</td>
          <td>${Object.values(content).map(({ schema }) => type(schema))}</td>
          <td>${description}</td>
        </tr>
      `
    )
  }</table></details>`
}

/** The whole page. */
export function page(document: Document) {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({ path, method, route }))
  )
  const areas = [...new Set(routes.map(({ route }) => route.tags?.[0] ?? 'other'))]
  const schemas = Object.entries(document.components?.schemas ?? {})
  return html`
    <!doctype html>
    <html lang="en"><meta charset="utf-8">
        <meta name="viewport" content="width=device-width"><title>${document.info.title}</title>
        <style>${style}</style><h1>${document.info.title}</h1><p>${
    document.info.description ??
      ''
  }</p>
        <nav>${areas.map((name) => html`<a href="#area-${name}">${name}</a><br>`)}
          <a href="#records">records</a></nav>
        ${
    areas.map((name) =>
      html`<h2 id="area-${name}">${name}</h2>${
        routes.filter(({ route }) => (route.tags?.[0] ?? 'other') === name)
          .map(({ path, method, route }) =>
            operation(path, method, route)
          )
      }`
    )
  }
        <h2 id="records">Records</h2>${
    schemas.map(([name, schema]) =>
      html`<details id="${name}"><summary><code>${name}</code></summary>${type(schema)}</details>`
    )
  }
        <script>${
    raw(
      `const open = () => document.getElementById(location.hash.slice(1))?.setAttribute('open', '')
      addEventListener('hashchange', open); open()`,
    )
  }</script></html>
  `
}
