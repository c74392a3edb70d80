import { and, eq, exists, gt, inArray, isNull, or, type SQL } from 'drizzle-orm';
import { claims, codeMessages, codes, dailyCodes, rateLimitEvents } from '#db/schema';
import type { PhoneNumber } from '../identity/phone.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { batch } from '../lib/database.ts';
import { coalesce, fixed, iif, minus, rowExists, valueOf } from '../lib/expressions.ts';
import type { Subject } from '../lib/rate-limits.ts';
import { RequestError } from '../lib/request-error.ts';
import { excluded, insertSelect, isIn, upsertSelect } from '../lib/sql.ts';
import { dayMs, pause } from '../lib/time.ts';
import { sql } from '../lib/sql-text.ts';
import { sendCode, type MessageStatus } from '../messaging/whatsapp.ts';
import type { Scope } from '../request-scope.ts';
import { codeDay } from './code-budget.ts';
import { idMacs, openNames, proveClaim, sealNames } from './claims.ts';
import { codesOfSql } from './stored-codes.ts';

/** Statuses of a message come within a day. */
const keptMs = dayMs;

export type StoredCode = {
  phone: PhoneNumber;
  to: string;
  code: string;
  sentBy: string;
  counted: Subject[];
};

type SendStoredCodeOptions = {
  undo: () => Promise<unknown>;
  /** It may arrive. `retryAfter` in seconds. */
  ifLost: { undo?: () => Promise<unknown>; retryAfter?: number };
};

/** Throws 503 unless WhatsApp takes it. */
export async function sendStoredCode(
  scope: Scope<'db' | 'settings' | 'now' | 'language' | 'waitUntil'>,
  message: StoredCode,
  { undo, ifLost }: SendStoredCodeOptions,
): Promise<void> {
  const { delivery, messageId } = await sendCode(scope, message.to, message);
  // Statuses of the message come later.
  if (messageId) scope.waitUntil(noteMessage(scope, message, messageId));

  switch (delivery) {
    case 'taken':
      return;
    case 'unknown':
      await ifLost.undo?.();
      throw new RequestError('unavailable', { retryAfter: ifLost.retryAfter ?? 1 });
    case 'refused':
      await undo();
      throw new RequestError('unavailable', { retryAfter: 1 });
    // Nobody gets a code until the owner acts.
    case 'forbidden':
      await undo();
      throw new RequestError('codesUnavailable', { retryAfter: 60 });
  }
}

async function noteMessage(
  scope: Scope<'db' | 'settings' | 'now'>,
  { sentBy, phone, counted }: StoredCode,
  messageId: string,
): Promise<void> {
  const { settings, now } = scope;

  // The response is sent first.
  await pause(0);
  const mac = await keyedHash(settings.CODE_PEPPER[0]!, 'code-message', messageId);
  const sealedPhone = await sealNames(settings, mac, { phone });

  const known = {
    sentBy,
    sealedPhone,
    sentAt: now,
    subjects: JSON.stringify(counted.map(([name]) => name)),
  };

  const row = insertSelect(
    codeMessages,
    { mac, ...known, keptUntil: now + keptMs },
    sql`where true`,
  );
  const upsert = upsertSelect(row, codeMessages, {
    target: [codeMessages.mac],
    set: known,
  });
  await settle(scope, { macs: [mac], sentBy }, upsert);
}

export async function noteStatus(
  scope: Scope<'db' | 'settings' | 'now'>,
  status: MessageStatus,
): Promise<void> {
  const { settings, now } = scope;
  const { messageId, sentBy, state, businessUserId } = status;
  if (messageId === '') return;

  const macs = await keyedHashes(settings.CODE_PEPPER, 'code-message', messageId);
  const recipients = businessUserId ? await idMacs(settings, businessUserId) : [];

  // The bot's messages have statuses, too.
  const own = isIn(codeMessages.mac, macs);
  const isClaimed = rowExists(claims, isIn(claims.mac, recipients));
  const mayBeOfCode = or(rowExists(codeMessages, own), isClaimed, fixed(sentBy !== undefined));

  const row = {
    mac: coalesce(valueOf(codeMessages.mac, own), macs[0]),
    state,
    recipientMac: recipients[0] ?? null,
    keptUntil: now + keptMs,
  };

  const noted = insertSelect(codeMessages, row, sql`where ${mayBeOfCode}`);
  const { mac, state: before, recipientMac } = codeMessages;
  const upsert = upsertSelect(noted, codeMessages, {
    target: [mac],
    set: {
      state: iif(eq(before, 'sent'), excluded(before), before),
      recipientMac: coalesce(recipientMac, excluded(recipientMac)),
    },
  });

  await settle(scope, { macs, sentBy: sentBy ?? null }, upsert);
}

type SettleOptions = { macs: string[]; sentBy: string | null };

/**
 * Writes, and then does what the message and its status say together. A
 * status names the code itself, so that it proves a claim also when the
 * response that names the message was lost.
 */
async function settle(
  scope: Scope<'db' | 'settings' | 'now'>,
  { macs, sentBy }: SettleOptions,
  upsert: SQL,
) {
  const { db, settings } = scope;
  const isRecipient = and(
    eq(claims.sentBy, coalesce(codeMessages.sentBy, sentBy)),
    eq(claims.mac, codeMessages.recipientMac),
    isNull(claims.provenAt),
  );

  const { found } = await batch(db, {
    noted: db.run(upsert),
    found: db
      .select({ message: codeMessages, claim: claims })
      .from(codeMessages)
      .leftJoin(claims, isRecipient)
      .where(inArray(codeMessages.mac, macs)),
  });
  const [row] = found;
  if (!row) return;

  const { message, claim } = row;
  if (message.state === 'failed') return undoFailedCode(scope, message);

  const names = claim && (await openNames(settings, claim));
  if (!claim || !names?.businessUserId) return;

  const { businessUserId, phone } = names;
  await proveClaim(scope, { sentBy: claim.sentBy, phone, businessUserId });
}

async function undoFailedCode(
  { db, settings, now }: Scope<'db' | 'settings' | 'now'>,
  { mac, sealedPhone, sentBy, sentAt, subjects }: typeof codeMessages.$inferSelect,
): Promise<void> {
  const names =
    sealedPhone &&
    (await openNames(settings, {
      mac,
      sealed: sealedPhone,
    }));
  if (!names || sentBy === null) return;

  const { phone } = names;
  const own = and(
    codesOfSql(phone, sentBy),
    eq(codes.undelivered, false),
    gt(codes.expiresAt, now),
  );
  const isLive = exists(db.select({ phone: codes.phone }).from(codes).where(own));

  const isEventOfCode = and(
    isIn(rateLimitEvents.subject, JSON.parse(subjects ?? '[]')),
    eq(rateLimitEvents.at, sentAt!),
    eq(rateLimitEvents.by, sentBy),
    isLive,
  );

  await db.batch([
    db
      .update(dailyCodes)
      .set({ sent: minus(dailyCodes.sent, 1) })
      .where(and(eq(dailyCodes.day, codeDay(sentAt!)), isLive)),
    db.delete(rateLimitEvents).where(isEventOfCode),
    db.update(codes).set({ undelivered: true, triesLeft: 0 }).where(own),
  ]);
}

export type CodeState = 'sent' | 'undelivered' | 'expired';

/** `expired` also if its tries are used up, and for all who lack the challenge. */
export async function stateOfCode(
  { db, settings, now }: Scope<'db' | 'settings' | 'now'>,
  phone: PhoneNumber,
  challenge: string,
): Promise<CodeState> {
  const hashes = await keyedHashes(settings.CODE_PEPPER, 'challenge', phone, challenge);
  const [code] = await db
    .select()
    .from(codes)
    .where(and(eq(codes.phone, phone), isIn(codes.challenge, hashes)));

  if (!code || code.expiresAt <= now) return 'expired';
  if (code.undelivered) return 'undelivered';
  return code.triesLeft > 0 ? 'sent' : 'expired';
}
