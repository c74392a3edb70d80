import { createHash, createHmac } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { World } from '../world.ts';
import type { Finding } from './finding.ts';

/** The local bot's own store, which may contain messages. */
const ofBot = /services\.db(-wal|-shm)?$/;

/** No file of the database, of the Durable Objects or of the Worker's log contains the text of a message. */
export async function textIsNowhere({ rig, marker }: World): Promise<Finding> {
  const entries = readdirSync(rig.stateDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !ofBot.test(entry.name));
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  const broken = paths.filter((path) => readIfThere(path).includes(marker)).map((path) => `found in ${path}`);
  return { what: 'files without the text of any message', checked: paths.length, broken };
}

/** SQLite may remove its temporary files while they are read. */
function readIfThere(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

/** How many messages the Durable Object of a conversation stores; 0 when it stores nothing. */
export function storedMessages(stateDir: string, userId: string): number {
  const file = join(stateDir, 'v3/do/solace-LiveUser', `${objectId('solace-LiveUser', userId)}.sqlite`);
  if (!existsSync(file)) return 0;
  // Reads a copy, so that the Worker's lock is not affected.
  const folder = mkdtempSync(join(tmpdir(), 'conversation-'));
  try {
    for (const suffix of ['', '-wal']) {
      if (existsSync(file + suffix)) copyFileSync(file + suffix, join(folder, `copy.sqlite${suffix}`));
    }
    return countMessages(join(folder, 'copy.sqlite'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countMessages(file: string): number {
  const database = new Database(file);
  try {
    const exists = database.prepare("select 1 from sqlite_master where name = 'messages'").get();
    return exists ? (database.prepare('select count(*) as n from messages').get() as { n: number }).n : 0;
  } finally {
    database.close();
  }
}

/** The id that workerd gives a Durable Object by its name: a keyed hash of the name, then one of that hash. */
function objectId(uniqueKey: string, name: string): string {
  const key = createHash('sha256').update(uniqueKey).digest();
  const mac = (data: string | Buffer) => createHmac('sha256', key).update(data).digest().subarray(0, 16);
  return Buffer.concat([mac(name), mac(mac(name))]).toString('hex');
}
