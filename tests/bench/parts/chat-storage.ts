import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { Caller } from '../load/caller.ts';
import { replyRequest } from '../load/request.ts';
import { ports } from '../rig/paths-and-ports.ts';
import type { Rig } from '../rig/rig.ts';
import type { Running } from '../rig/workerd.ts';

/** Bytes that one message adds to the SQLite file of its conversation. */
export async function bytesPerMessage(
  rig: Rig,
  messages: number,
  consent: (running: Running, people: number) => Promise<void>,
): Promise<number> {
  const disk = rig.folder();
  const running = await rig.solace({ port: ports.growth, disk, botUrl: await rig.bot() });
  await consent(running, 1);
  const caller = new Caller(running.url, 4);
  const write = async (count: number) => {
    for (let number = 1; number <= count; number += 1) await caller.call(replyRequest(0, number));
  };
  await write(1);
  const empty = sizeOf(disk);
  await write(messages);
  await caller.close();
  return (sizeOf(disk) - empty) / messages;
}

/** The pages of the conversation's database, in bytes. */
function sizeOf(disk: string): number {
  const files = readdirSync(disk, { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => /LiveUser.*\.sqlite$/.test(name));
  if (!file) throw new Error(`No conversation is stored in ${disk}: ${files.join(', ')}`);
  const database = new Database(join(disk, file), { readonly: true });
  const number = (pragma: string) => Number(Object.values(database.prepare(`pragma ${pragma}`).get() as object)[0]);
  const size = number('page_count') * number('page_size');
  database.close();
  return size;
}
