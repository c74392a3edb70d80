import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import type { Settings } from '../settings.ts';
import { firstChatKeyId, rewrapChatKey, UnusableChatKey, type WrappedKey } from './chat-keys.ts';

type Row = WrappedKey & { id: string };

const rowsPerStep = 500;
/** Keys for each hourly run: a quarter of a million a day. Keys of users who write are rewrapped on use. */
const stepsPerRun = 20;

/** Rewraps keys with the first of `CHAT_KEYS`, until none is left or the run ends. */
export async function rewrapChatKeys(db: Database, settings: Settings): Promise<void> {
  for (let step = 0; step < stepsPerRun; step += 1) {
    const rows = await db.all<Row>(wrappedByOthers(firstChatKeyId(settings)));
    const statements = (await Promise.all(rows.map((row) => rewrap(settings, row)))).filter((each) => each !== null);
    const [first, ...rest] = statements.map((statement) => db.run(statement));
    if (first) await db.batch([first, ...rest]);
    if (rows.length > 0) log('info', 'chat_keys_rewrapped', { keys: statements.length });
    if (rows.length > statements.length) {
      log('error', 'chat_key_unusable', { conversations: rows.length - statements.length });
    }
    if (statements.length < rowsPerStep) return;
  }
}

/** SQL that rewraps a key unless its row has changed; null if the first of `CHAT_KEYS` wraps it already. */
export async function rewrapOnUse(settings: Settings, row: Row): Promise<SQL | null> {
  return row.chatKeyId === firstChatKeyId(settings) ? null : rewrap(settings, row);
}

function wrappedByOthers(first: string): SQL {
  const keys = sql`select id, chat_key as chatKey, chat_key_id as chatKeyId from users where chat_key_id`;
  return sql`select * from (${keys} < ${first} limit ${rowsPerStep})
    union all select * from (${keys} > ${first} limit ${rowsPerStep}) limit ${rowsPerStep}`;
}

async function rewrap(settings: Settings, row: Row): Promise<SQL | null> {
  try {
    const { chatKey, chatKeyId } = await rewrapChatKey(settings, row.id, row);
    return sql`update users set chat_key = ${chatKey}, chat_key_id = ${chatKeyId}
      where id = ${row.id} and chat_key = ${row.chatKey}`;
  } catch (error) {
    if (error instanceof UnusableChatKey) return null;
    throw error;
  }
}
