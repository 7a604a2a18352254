import { randomUUID } from 'node:crypto'
import type { RealtimeChannel } from '@supabase/supabase-js'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { projectUrl } from '../../test/support/client.ts'
import { hasStack } from '../../test/support/facade.ts'
import {
  joined,
  type Json,
  payloads,
  sendToken,
  startRealtime,
  type TestRealtime,
} from './support/client.ts'
import { signHs256, unsignedToken } from '../../test/support/tokens.ts'
import { waitUntil } from '../../test/support/wait.ts'

const failedJoinDelay = 500

let realtime: TestRealtime
beforeAll(async () => {
  if (hasStack) realtime = await startRealtime({ failedJoinDelay })
})
afterAll(() => realtime?.stop())
afterEach(() => void vi.useRealTimers())

const newTopic = () => `room:${randomUUID()}`

/** Sends a frame that must get no reply: checks that there is none when a later call has been answered. */
async function unanswered(channel: RealtimeChannel, payload: Json) {
  const sent = channel.send({ type: 'broadcast', event: 'm', payload })
  expect(await channel.untrack()).toBe('ok')
  expect(await Promise.race([sent, Promise.resolve('nothing')])).toBe('nothing')
}

describe.runIf(hasStack)('private topics', () => {
  test('AUTH-01 AUTH-02 AUTH-08 can be joined only by those whom the policies let read', async () => {
    const topic = newTopic()
    const token = await realtime.token(randomUUID())
    const member = randomUUID()
    await realtime.member(topic, member)
    const [head, claims, signature] = (await realtime.token(member)).split('.')
    const claimsText = Buffer.from(claims!, 'base64url').toString()
    const { kid } = JSON.parse(Buffer.from(head!, 'base64url').toString())
    const keys = await fetch(`${projectUrl}/auth/v1/.well-known/jwks.json`)
    const publicKey = JSON.stringify((await keys.json()).keys[0])
    const changed = claimsText.replace('authenticated"', 'anon"')
    const forged = `${head}.${Buffer.from(changed).toString('base64url')}.${signature}`
    const expired = await realtime.token(member, { exp: Math.floor(Date.now() / 1000) - 7 })
    const attempts: [Json, RegExp][] = [
      [{ access_token: token }, /^Unauthorized: .*read from this Channel topic: room:/],
      [{}, /^Unauthorized: /],
      [{ access_token: realtime.publishableKey }, /^Unauthorized: /],
      [{ access_token: forged }, /^JwtSignatureError: /],
      [{ access_token: expired }, /^InvalidJWTToken: Token has expired \d+ seconds ago$/],
      [{ access_token: 'rubbish' }, /^MalformedJWT: /],
      ...['none', 'None', 'NONE', 'nOnE'].flatMap((alg): [Json, RegExp][] => {
        const unsigned = unsignedToken({ alg, typ: 'JWT' }, JSON.parse(claimsText))
        return [unsigned, `${unsigned}.`].map((access_token) => [
          { access_token },
          /^(MalformedJWT|JwtSignerError): /,
        ])
      }),
      [
        { access_token: signHs256({ kid }, JSON.parse(claimsText), publicKey) },
        /^JwtSignerError: /,
      ],
    ]
    const began = Date.now()
    await Promise.all(attempts.map(async ([more, reason]) => {
      const raw = await realtime.raw()
      const answer = await raw.join(topic, { private: true }, more)
      expect(answer).toMatchObject({ status: 'error' })
      expect(answer.response.reason).toMatch(reason)
      raw.close()
    }))
    // The rejection of a join is delayed, to slow down guessing.
    expect(Date.now() - began).toBeGreaterThan(0.9 * failedJoinDelay)
    const { rows } = await realtime.query(
      'select count(*)::int as left from realtime.messages where topic = $1',
      [topic],
    )
    expect(rows).toEqual([{ left: 0 }])
  })

  test('show policies the topic, role, claims and sub, and nothing of the message', async () => {
    const topic = newTopic()
    await realtime.query(`
      create table if not exists public.told (topic text, told jsonb);
      create or replace function public.tell(rec realtime.messages) returns boolean
        language plpgsql volatile security definer set search_path = '' as $$
      begin
        raise exception using errcode = 'P0001', message = jsonb_build_object(
          'topic', rec.topic, 'extension', rec.extension, 'payload', rec.payload,
          'event', rec.event, 'private', rec.private, 'setting', realtime.topic(),
          'role', current_setting('role'), 'sub', current_setting('request.jwt.claim.sub'),
          'claims', current_setting('request.jwt.claims')::jsonb ->> 'sub')::text;
      end $$;
      create policy "tells ${topic}" on realtime.messages for select to anon
        using (case when topic = '${topic}' then public.tell(messages) else false end);
    `)
    const said: string[] = []
    const { error } = console
    console.error = (line: string) => void said.push(line)
    const raw = await realtime.raw()
    const answer = await raw.join(topic, { private: true })
    console.error = error
    await realtime.query(`drop policy "tells ${topic}" on realtime.messages`)
    expect(answer.response.reason).toMatch(/^Unauthorized/)
    const message = JSON.parse(said.find((line) => line.includes(topic))!.replace(/^join: /, ''))
    expect(message).toEqual({
      topic,
      extension: 'broadcast',
      payload: null,
      event: null,
      private: false,
      setting: topic,
      role: 'anon',
      sub: '',
      claims: null,
    })
    raw.close()
  })

  test('silently drop what may not be sent', async () => {
    const topic = newTopic()
    const [writer, reader, old] = await Promise.all([
      joined(realtime, topic, { config: { broadcast: { ack: true, self: true } } }),
      joined(realtime, topic, { rights: { writes: false }, config: { broadcast: { ack: true } } }),
      joined(realtime, topic, { vsn: '1.0.0' }),
    ])
    const say = (who: typeof writer, n: number) =>
      who!.channel.send({ type: 'broadcast', event: 'm', payload: { n, text: 'بيت' } })
    await unanswered(reader!.channel, { n: 1, text: 'بيت' })
    expect(await say(writer!, 2)).toBe('ok')
    expect(await say(old!, 3)).toBe('ok')
    await waitUntil('it is sent', () => reader!.received.length === 2)
    await realtime.send(topic, 'm', { n: 4 })
    const heard = ({ received }: typeof writer) => payloads(received).map(({ n }) => n)
    await waitUntil(
      'what comes last is there',
      () => [writer!, reader!, old!].every((one) => heard(one).includes(4)),
    )
    // A sender gets its own message only if it joined with `self`.
    expect(payloads(writer!.received).slice(0, 2))
      .toEqual([{ n: 2, text: 'بيت' }, { n: 3, text: 'بيت' }])
    expect([writer!, reader!, old!].map(heard)).toEqual([[2, 3, 4], [2, 3, 4], [2, 4]])
  })

  test('keep the rights until a new token comes', async () => {
    const topic = newTopic()
    const config = { broadcast: { ack: true } }
    const [leaver, other] = await Promise.all([
      joined(realtime, topic, { config }),
      joined(realtime, topic),
    ])
    const say = (n: number) =>
      leaver.channel.send({ type: 'broadcast', event: 'm', payload: { n } })
    expect(await say(1)).toBe('ok')
    await realtime.query('delete from public.members where sub = $1', [leaver.sub])
    expect(await say(2)).toBe('ok')
    await realtime.send(topic, 'm', { n: 3 })
    await waitUntil('it still receives messages', () => leaver.received.length === 1)
    // Sending the same token again, or an API key, changes nothing.
    sendToken(leaver.channel, leaver.token)
    sendToken(leaver.channel, realtime.publishableKey)
    expect(await say(4)).toBe('ok')
    expect(leaver.states).toEqual(['SUBSCRIBED'])
    sendToken(leaver.channel, await realtime.token(leaver.sub, { again: true }))
    await waitUntil('the channel is closed', () => leaver.states.at(-1) === 'CLOSED')
    expect(leaver.received.at(-1).system).toEqual({
      extension: 'system',
      status: 'error',
      message: `You do not have permissions to read from this Channel topic: ${topic}`,
      channel: topic,
    })
    await waitUntil('the other received it', () => other.received.length === 4)
    expect(payloads(other.received).map(({ n }) => n)).toEqual([1, 2, 3, 4])
  })

  test('are closed to who may read only some of what they could before', async () => {
    const topic = newTopic()
    const one = await joined(realtime, topic, { config: { presence: { enabled: true } } })
    await realtime.query('update public.members set sees = false where sub = $1', [one.sub])
    sendToken(one.channel, await realtime.token(one.sub, { again: true }))
    await waitUntil('the channel is closed', () => one.states.at(-1) === 'CLOSED')
    expect(one.received.at(-1).system.message)
      .toBe(`You no longer have permission to read from this Channel topic: ${topic}`)
  })

  test('check the right to send again with a new token', async () => {
    const topic = newTopic()
    const writer = await joined(realtime, topic, { config: { broadcast: { ack: true } } })
    const say = () => writer.channel.send({ type: 'broadcast', event: 'm', payload: {} })
    expect(await say()).toBe('ok')
    await realtime.query('update public.members set writes = false where sub = $1', [writer.sub])
    sendToken(writer.channel, await realtime.token(writer.sub, { again: true }))
    await unanswered(writer.channel, {})
    expect(writer.states).toEqual(['SUBSCRIBED'])
  })

  test('close a channel with a reason when its token expires', async () => {
    const topic = newTopic()
    const sub = randomUUID()
    await realtime.member(topic, sub)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const exp = Math.floor(Date.now() / 1000) + 2
    const raw = await realtime.raw()
    const more = { access_token: await realtime.token(sub, { exp }) }
    expect(await raw.join(topic, { private: true }, more)).toMatchObject({ status: 'ok' })
    const bad = await realtime.token(sub, { exp: exp - 100 })
    vi.setSystemTime(exp * 1000)
    const goodbye = await raw.find('the end', ([, , , event]) => event === 'phx_close')
    expect(goodbye).toEqual(['1', '1', `realtime:${topic}`, 'phx_close', {}])
    expect(raw.events(topic, 'system')).toEqual([{
      extension: 'system',
      status: 'error',
      message: expect.stringMatching(/^Token has expired \d+ seconds ago$/),
      channel: topic,
    }])
    await realtime.send(topic, 'm', { n: 1 })
    // Waits for messages that are still on their way, which would reach the channel of the next join.
    await realtime.taken()
    // An invalid token closes the channel too.
    const token = await realtime.token(sub)
    await raw.join(topic, { private: true }, { access_token: token }, '2')
    raw.send(`realtime:${topic}`, 'access_token', { access_token: bad }, '2')
    await raw.find(
      'the second end',
      ([joinRef, , , event]) => event === 'phx_close' && joinRef === '2',
    )
    expect(raw.events(topic, 'broadcast')).toEqual([])
    raw.close()
  })
})
