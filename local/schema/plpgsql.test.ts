import { spawnSync } from 'node:child_process'
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

  create function private.level(is_on boolean) returns integer language plpgsql as $$
  begin
    if is_on then
      return 1;
    end if;
  end $$;

  create function private.parsed(number text) returns void language plpgsql as $$
  declare
    one integer := number;
    "limit" integer;
  begin
    perform one, "limit";
  end $$;

  create function private.on_lamp() returns trigger language plpgsql as $$
  begin
    perform new.room_id;
    return null;
  end $$;
  create trigger rooms_changed after insert on public.rooms
    for each row execute function private.on_lamp();
  create trigger lamps_changed after insert on public.lamps
    for each row execute function private.on_lamp();

  create function private.on_rooms() returns trigger language plpgsql as $$
  begin
    perform from earlier;
    return null;
  end $$;
  create trigger rooms_updated after update on public.rooms referencing old table as earlier
    for each statement execute function private.on_rooms();
  create trigger rooms_deleted after delete on public.rooms
    for each statement execute function private.on_rooms();`

test.runIf(!installed())('check:plpgsql fails where it has nothing to run on', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, 'local/schema/plpgsql.ts')],
    { encoding: 'utf8' },
  )
  expect(stderr).toMatch(/No Postgres 17 of this machine has plpgsql_check/)
  expect(status).toBe(1)
})

test.runIf(installed())(
  'a branch that cannot work is found, a missing return, a trigger that is wrong for one table or lacks rows',
  async () => {
    const { folder } = installed()!
    useBinaries({ initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') })
    await onTemporaryServer(async (server) => {
      const url = await server.createDatabase('planted')
      await connected(url, (client) => client.query(planted))
      const found = await findings(server.urlOf('supabase_admin', 'planted'))
      expect(found.map(({ lint, object, detail }) => `${object}, ${detail}: ${lint}`)).toEqual([
        'private.level(boolean), as a whole: 2F005 control reached end of function without RETURN',
        'private.on_lamp() as rooms_changed of public.rooms, line 3: 42703 record "new" has no field "room_id"',
        'private.on_rooms() as rooms_deleted of public.rooms, line 3: 42P01 relation "earlier" does not exist',
        'private.parsed(text), line 5: 00000 name of variable "limit" is reserved keyword',
        'private.parsed(text), line 5: 42804 target type is different type than source type',
        expect.stringMatching(/^private\.rarely\(boolean\), line 4: 42883 function .*lower/),
      ])
    })
  },
)
