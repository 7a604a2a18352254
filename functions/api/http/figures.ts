// Metrics of the API when it runs as a separate process, for GET /metrics.
import { Counter, type Family, Histogram, single } from '../../_shared/figures/families.ts'

const times = new Histogram('http_request_duration_seconds', 'Time to the answer, by route.')
const requests = new Counter('http_requests', 'Requests by route and class of status.')
const errors = new Counter('http_errors', 'Error answers, by code.')
let inFlight = 0

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export const requestBegins = () => void inFlight++

/** `route` must be the route's pattern, never the requested path. */
export function requestEnds(
  { method: given, route, status, code, seconds }: {
    method: string
    route: string
    status: number
    code: string | undefined
    seconds: number
  },
): void {
  inFlight--
  const method = methods.includes(given) ? given : 'other'
  times.observe({ method, route }, seconds)
  requests.add({ method, route, status: `${Math.floor(status / 100)}xx` })
  if (code) errors.add({ code })
}

export const requestFamilies = (): Family[] => [
  times.family(),
  requests.family(),
  errors.family(),
  single('http_requests_in_flight', 'Requests without an answer yet.', inFlight),
]
