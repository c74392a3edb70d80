import { and, eq, gt, lt, type SQL } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/sqlite-core';
import { users } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { build } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import {
  type ChatUser,
  presentChatKeyId,
  rewrapChatKey,
  UnusableChatKey,
  type WrappedKey,
} from './chat-keys.ts';

type WrappedRow = WrappedKey & ChatUser;

const rowsPerStep = 500;

/** A quarter of a million keys a day. */
const stepsPerRun = 20;

export async function rewrapChatKeys(db: Database, settings: Settings): Promise<void> {
  let unusable = 0;

  for (let step = 0; step < stepsPerRun; step += 1) {
    const rows = (await wrappedByOthers(db, presentChatKeyId(settings), unusable)) as WrappedRow[];
    const statements = (await Promise.all(rows.map((row) => rewrap(settings, row)))).filter(
      (each) => each !== null,
    );

    const [first, ...rest] = statements.map((statement) => db.run(statement));
    if (first) await db.batch([first, ...rest]);
    if (rows.length > 0) log('info', 'chat_keys_rewrapped', { keys: statements.length });

    unusable += rows.length - statements.length;
    if (rows.length < rowsPerStep) break;
  }

  if (unusable > 0) log('error', 'chat_key_unusable', { conversations: unusable });
}

/** Null if the first of `CHAT_KEYS` wraps it already. */
export async function rewrapOnUseSql(settings: Settings, row: WrappedRow): Promise<SQL | null> {
  return row.chatKeyId === presentChatKeyId(settings) ? null : rewrap(settings, row);
}

function wrappedByOthers(db: Database, first: string, skipped: number) {
  const { id, phone, chatKey, chatKeyId } = users;
  const keys = (where: SQL) =>
    db.select({ id, phone, chatKey, chatKeyId }).from(users).where(where);
  return unionAll(keys(lt(chatKeyId, first)), keys(gt(chatKeyId, first)))
    .limit(rowsPerStep)
    .offset(skipped);
}

async function rewrap(settings: Settings, row: WrappedRow): Promise<SQL | null> {
  try {
    const { chatKey, chatKeyId } = await rewrapChatKey(settings, row, row);
    const { id, phone } = row;
    const isUnchanged = and(
      eq(users.id, id),
      eq(users.phone, phone),
      eq(users.chatKey, row.chatKey),
    );
    return build
      .update(users)
      .set({
        chatKey,
        chatKeyId,
      })
      .where(isUnchanged)
      .getSQL();
  } catch (error) {
    if (error instanceof UnusableChatKey) return null;
    throw error;
  }
}
