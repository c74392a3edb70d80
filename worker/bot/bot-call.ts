import { sql, type SQL } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import type { Database } from '../platform/database.ts';
import { sha256 } from '../platform/hex.ts';
import { prepared, runPrepared, type Prepared } from '../platform/prepared-statements.ts';
import { RequestError } from '../platform/request-error.ts';

type Row = { fingerprint: string; answer: string };

const [callId, nonce] = [sql.placeholder('callId'), sql.placeholder('nonce')];

/** SQL: whether this very call is the one that took the id. */
export const isFirstCall: SQL<boolean> = sql`exists (select 1 from bot_calls where id = ${callId} and by = ${nonce})`;

/** SQL: the answer of this call. */
export const storedResponse: SQL<string> = sql`(select answer from bot_calls where id = ${callId})`;

/**
 * What a call does: `answer` is SQL for a JSON text, read before the effects. A call that is known keeps its row and
 * gives back what stands there, whatever it would find now.
 */
export function idempotentStatements(answer: SQL, effects: SQL[] = []): Prepared[] {
  const claim = sql`insert into bot_calls (id, fingerprint, by, at, answer)
    select ${callId}, ${sql.placeholder('fingerprint')}, ${nonce}, ${sql.placeholder('now')}, answer
    from (${answer} union all select answer from bot_calls where id = ${callId}) where true
    on conflict (id) do update set id = excluded.id returning fingerprint, answer`;
  return [claim, ...effects].map(prepared);
}

/**
 * One signed call of the bot. Its webhook-id is the idempotency key of all bot calls: the answer is computed and kept
 * in the batch that applies the call, so the same call again reads the same answer and changes nothing.
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
   * The same call, compared by some of its fields: a hash of a short text would tell whoever reads the database what
   * the text was.
   */
  async comparedBy(fields: Record<string, unknown>): Promise<BotCall> {
    return new BotCall(this.id, await sha256(JSON.stringify(fields)));
  }

  /**
   * Applies the call once; `values` fill the statements' own placeholders. Where the answer's SQL yields no row the
   * call is not remembered and the result is null.
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

  /** The same, with the first row of the last statement. */
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

/** The call behind a body signed by Standard Webhooks with one of the secrets; 401 otherwise. */
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
