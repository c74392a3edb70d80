import { sql, type SQL } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import type { Database } from '../platform/database.ts';
import { sha256 } from '../platform/hex.ts';
import { prepared, runPrepared, type Prepared } from '../platform/prepared-statements.ts';
import { RequestError } from '../platform/request-error.ts';

type Row = { fingerprint: string; answer: string };

const [callId, nonce] = [sql.placeholder('callId'), sql.placeholder('nonce')];

/** SQL: whether this request is the first with its id. */
export const isFirstCall: SQL<boolean> = sql`exists (select 1 from bot_calls where id = ${callId} and by = ${nonce})`;

/** SQL: the stored response of this call. */
export const storedResponse: SQL<string> = sql`(select answer from bot_calls where id = ${callId})`;

/**
 * The statements of a call: `answer` is SQL for a JSON text, read before the effects. A known call returns the stored
 * response, even if the facts have changed since.
 */
export function idempotentStatements(answer: SQL, effects: SQL[] = []): Prepared[] {
  const claim = sql`insert into bot_calls (id, fingerprint, by, at, answer)
    select ${callId}, ${sql.placeholder('fingerprint')}, ${nonce}, ${sql.placeholder('now')}, answer
    from (${answer} union all select answer from bot_calls where id = ${callId}) where true
    on conflict (id) do update set id = excluded.id returning fingerprint, answer`;
  return [claim, ...effects].map(prepared);
}

/**
 * One signed call of the bot. Its webhook-id is the idempotency key of all bot calls: the response is computed and
 * stored in the batch that applies the call, so a replay returns the same response and changes nothing.
 */
export class BotCall {
  readonly id: string;
  readonly #fingerprint: string;
  readonly #nonce = crypto.randomUUID();

  constructor(id: string, fingerprint: string) {
    this.id = id;
    this.#fingerprint = fingerprint;
  }

  /**
   * The same call with a fingerprint of some of its fields: a reader of the database could guess a short text from its
   * hash.
   */
  async comparedBy(fields: Record<string, unknown>): Promise<BotCall> {
    return new BotCall(this.id, await sha256(JSON.stringify(fields)));
  }

  /**
   * Applies the call once; `values` fill the statements' placeholders. If the SQL of the response yields no row, the
   * call is not stored and the result is null.
   */
  async once<Answer>(
    db: Database,
    now: number,
    statements: Prepared[],
    values: Record<string, unknown> = {},
  ): Promise<Answer | null> {
    const [answer] = await this.onceThen<Answer, unknown>(db, now, statements, values);
    return answer;
  }

  /** As `once`, with the first row of the last statement. */
  async onceThen<Answer, LastRow>(
    db: Database,
    now: number,
    statements: Prepared[],
    values: Record<string, unknown> = {},
  ): Promise<[answer: Answer | null, last: LastRow | undefined]> {
    const all = { ...values, now, callId: this.id, nonce: this.#nonce, fingerprint: this.#fingerprint };
    const results = await runPrepared(db, statements, all);
    const [row] = results[0] as Row[];
    const last = results.at(-1)?.[0] as LastRow | undefined;
    if (!row) return [null, last];
    if (row.fingerprint !== this.#fingerprint) throw new RequestError('idReused');
    return [JSON.parse(row.answer) as Answer, last];
  }
}

/** Verifies a Standard Webhooks signature by one of the secrets and returns the call; throws 401. */
export async function verifyBotCall(secrets: string[], request: Request, body: string): Promise<BotCall> {
  const id = request.headers.get('webhook-id') ?? '';
  const timestamp = request.headers.get('webhook-timestamp') ?? '';
  if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) throw new RequestError('invalidBotSignature');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': request.headers.get('webhook-signature') ?? '',
  };
  if (!secrets.some((secret) => signedWith(secret, body, headers))) throw new RequestError('invalidBotSignature');
  return new BotCall(id, await sha256(`${new URL(request.url).pathname}\n${body}`));
}

function signedWith(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}
