import { sql, type SQL } from 'drizzle-orm';
import { keyedHash, keyedHashes, sha256 } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import { prepared, runPrepared, type Prepared } from '../lib/sql.ts';
import { isRecent, isSigned } from '../lib/standard-webhooks.ts';
import type { Settings } from '../settings.ts';

/** A signed call; `id` is its idempotency key. Fingerprints are made on demand: those of a voice take 8 MB. */
export type BotCall = {
  id: string;
  fingerprint: () => Promise<string>;
  earlierFingerprints: () => Promise<string[]>;
};

type BotSettings = Pick<Settings, 'BOT_WEBHOOK_SECRET' | 'CODE_PEPPER'>;

type Read = {
  settings: BotSettings;
  request: Request;
  /** Unix ms. */
  now: number;
};

/**
 * Reads a call that one of the secrets has signed (Standard Webhooks); throws 401. A body is read only if its headers
 * may be right.
 */
export async function readBotCall(
  { settings, request, now }: Read,
  readBody: () => Promise<string>,
): Promise<{ botCall: BotCall; body: string }> {
  const id = request.headers.get('webhook-id') ?? '';
  const timestamp = request.headers.get('webhook-timestamp') ?? '';
  const signature = request.headers.get('webhook-signature') ?? '';
  if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp))
    throw new RequestError('invalidBotSignature');
  const sent = { id, timestamp: Number(timestamp) };
  if (!isRecent(sent, now)) throw new RequestError('invalidBotSignature');

  const body = await readBody();
  if (!(await isSigned(settings.BOT_WEBHOOK_SECRET, { ...sent, body }, signature)))
    throw new RequestError('invalidBotSignature');
  const { pathname } = new URL(request.url);
  return { botCall: { id, ...fingerprintsOf(settings, () => `${pathname}\n${body}`) }, body };
}

export function comparedBy(
  settings: BotSettings,
  { id }: BotCall,
  fields: Record<string, unknown>,
): BotCall {
  return { id, ...fingerprintsOf(settings, () => JSON.stringify(fields)) };
}

/** A body names a number, so its hash is keyed. The version before 2026-11-23 stored an unkeyed one for 7 days. */
function fingerprintsOf({ CODE_PEPPER: [pepper, ...earlier] }: BotSettings, text: () => string) {
  return {
    fingerprint: () => keyedHash(pepper!, 'bot-call', text()),
    earlierFingerprints: async () => [
      ...(await keyedHashes(earlier, 'bot-call', text())),
      await sha256(text()),
    ],
  };
}

type Row = { fingerprint: string; answer: string };
type Context = { db: Database; now: number; botCall: BotCall };
type Statements<Name extends string> = Record<'claim' | Name, Prepared>;

const [callId, nonce] = [sql.placeholder('callId'), sql.placeholder('nonce')];

export const isFirstCall: SQL<boolean> = sql`exists (select 1 from bot_calls where id = ${callId} and by = ${nonce})`;

/** The statements of a call: the SQL of `response` is read before the effects; a known call gets the stored one. */
export function idempotentStatements<Name extends string = never>(
  response: SQL,
  effects?: Record<Name, SQL>,
): Statements<Name> {
  const claim = sql`insert into bot_calls (id, fingerprint, by, at, answer)
    select ${callId}, ${sql.placeholder('fingerprint')}, ${nonce}, ${sql.placeholder('now')}, answer
    from (${response} union all select answer from bot_calls where id = ${callId}) where true
    on conflict (id) do update set id = excluded.id returning fingerprint, answer`;
  const named = Object.entries<SQL>({ claim, ...effects }).map(([name, statement]) => [
    name,
    prepared(statement),
  ]);
  return Object.fromEntries(named) as Statements<Name>;
}

/** Applies a call once; a replay returns the stored response. Null if the SQL yields no row. Throws `idReused`. */
export async function applyOnce<Result, Name extends string>(
  { db, now, botCall }: Context,
  statements: Statements<Name>,
  values: Record<string, unknown> = {},
): Promise<{ response: Result | null; rows: Record<Name, unknown[]> }> {
  const [id, fingerprint] = [botCall.id, await botCall.fingerprint()];
  const all = { ...values, now, callId: id, nonce: crypto.randomUUID(), fingerprint };
  const results = await runPrepared(db, Object.values<Prepared>(statements), all);
  const named = Object.keys(statements).map((name, index) => [name, results[index]]);
  const rows = Object.fromEntries(named) as Record<'claim' | Name, unknown[]>;
  const [call] = rows.claim as Row[];
  if (!call) return { response: null, rows };
  if (
    call.fingerprint !== fingerprint &&
    !(await botCall.earlierFingerprints()).includes(call.fingerprint)
  )
    throw new RequestError('idReused');
  return { response: JSON.parse(call.answer) as Result, rows };
}
