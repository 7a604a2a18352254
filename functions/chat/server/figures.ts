// Metrics of a gateway that runs as a separate process, for GET /metrics.
import { Counter, type Family, Histogram, single } from '../../_shared/figures/families.ts'

export const handshakes = new Counter('chat_handshakes', 'Upgrades by the status of the answer.')
export const frames = new Histogram(
  'chat_frame_duration_seconds',
  'How long the frames of clients took, by event.',
)
export const errors = new Counter('chat_errors', 'Error events to clients, by code.')
export const closings = new Counter(
  'chat_closed',
  'Sockets that ended, by the code that we closed with; 0 if the client did.',
)
export const realtimeBreaks = new Counter('chat_realtime_breaks', 'Lost connections to Realtime.')
export const lateUpdates = new Counter(
  'chat_late_updates',
  'Changes of conversations that Realtime did not send and a look into the database found.',
)

type Now = { sockets: number; connections: number; ready: number; channels: number }

export const familiesOf = ({ sockets, connections, ready, channels }: Now): Family[] => [
  ...[handshakes, frames, errors, closings, realtimeBreaks, lateUpdates]
    .map((counted) => counted.family()),
  single('chat_sockets', 'Open sockets of clients.', sockets),
  single('chat_realtime_connections', 'Connections to Realtime.', connections),
  single('chat_realtime_ready', 'Those of them that are open.', ready),
  single('chat_realtime_channels', 'Channels on them.', channels),
]
