import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useBinaries } from '../postgres/binaries.ts'
import { connected } from './build.ts'
import { root } from './cli.ts'
import { findings, installed } from './plpgsql.ts'
import { onTemporaryServer } from './temporary-server.ts'

const planted = `
  create schema api;
  create schema private;
  create table public.rooms (id integer);
  create table public.lamps (id integer, room_id integer);

  create function private.rarely(often boolean) returns void language plpgsql as $$
  begin
    if not often then
      perform lower(rooms) from public.rooms;
    end if;
  end $$;

  create function private.on_change() returns trigger language plpgsql as $$
  begin
    if tg_table_name = 'lamps' then
      perform new.room_id;
    end if;
    if tg_op <> 'INSERT' then
      perform from earlier;
    end if;
    return null;
  end $$;
  create trigger added after insert on public.rooms
    for each row execute function private.on_change();
  create trigger changed after update on public.rooms referencing old table as earlier
    for each statement execute function private.on_change();
  create trigger added after insert on public.lamps
    for each row execute function private.on_change();
  create trigger changed after update on public.lamps referencing old table as earlier
    for each statement execute function private.on_change();`

test.runIf(!installed())('check:plpgsql says by name what it leaves out', () => {
  const program = [join(root, 'local/schema/plpgsql.ts')]
  expect(execFileSync(process.execPath, program, { encoding: 'utf8' }))
    .toMatch(/^left out {2}plpgsql_check of every function: /)
})

test.runIf(installed())(
  'a branch that cannot work is found, one of another table is not',
  async () => {
    const { folder } = installed()!
    useBinaries({ initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') })
    await onTemporaryServer(async (server) => {
      const url = await server.createDatabase('planted')
      await connected(url, (client) => client.query(planted))
      expect(await findings(server.urlOf('supabase_admin', 'planted'))).toEqual([
        expect.stringMatching(/^private\.rarely\(boolean\), line 4: 42883 function .*lower/),
      ])
    })
  },
)
