import { sql, type SQL } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { Webhook } from 'standardwebhooks';
import type { Database } from '../db.ts';
import { oncePer } from '../once-per.ts';
import { build, prepared } from '../prepared.ts';
import { Problem } from '../problem.ts';

type Row = { fingerprint: string; answer: string };

type Statement = BatchItem<'sqlite'>;
type BotStatements = ReturnType<typeof prepared<Statement>>[];

const [callId, nonce] = [sql.placeholder('callId'), sql.placeholder('nonce')];

/** SQL: whether this very call is the one that took the id. */
export const won: SQL<boolean> = sql`exists (select 1 from bot_calls where id = ${callId} and by = ${nonce})`;

/** SQL: the answer of this call. */
export const answered: SQL<string> = sql`(select answer from bot_calls where id = ${callId})`;

/**
 * What a call does: `answer` is SQL for a JSON text, read before the effects. A call that is known keeps its row and
 * gives back what stands there, whatever it would find now.
 */
export function botStatements(answer: SQL, effects: SQL[] = []): BotStatements {
  const claim = sql`insert into bot_calls (id, fingerprint, by, at, answer)
    select ${callId}, ${sql.placeholder('fingerprint')}, ${nonce}, ${sql.placeholder('now')}, answer
    from (${answer} union all select answer from bot_calls where id = ${callId}) where true
    on conflict (id) do update set id = excluded.id returning fingerprint, answer`;
  return [build.all<Row>(claim), ...effects.map((effect) => build.run(effect))].map((each) =>
    prepared<Statement>(each),
  );
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
   * Applies the call once; `values` fill the statements' own placeholders. Where the answer's SQL yields no row the
   * call is not remembered and the result is null.
   */
  async once<Answer>(
    db: Database,
    now: number,
    statements: BotStatements,
    values: Record<string, unknown> = {},
  ): Promise<Answer | null> {
    const all = { ...values, now, callId: this.id, nonce: this.#nonce, fingerprint: this.#fingerprint };
    const results: unknown[] = await db.batch(statements.map((each) => each(all)) as [Statement]);
    const [row] = results[0] as Row[];
    if (!row) return null;
    if (row.fingerprint !== this.#fingerprint) throw new Problem('idReused');
    return JSON.parse(row.answer) as Answer;
  }
}

/** The call behind a body signed by Standard Webhooks with one of the secrets; 401 otherwise. */
export async function verifyBotCall(secrets: string[], request: Request, body: string): Promise<BotCall> {
  const id = request.headers.get('webhook-id') ?? '';
  const timestamp = request.headers.get('webhook-timestamp') ?? '';
  if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) throw new Problem('invalidBotSignature');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': request.headers.get('webhook-signature') ?? '',
  };
  if (!webhooksOf(secrets).some((webhook) => signedWith(webhook, body, headers)))
    throw new Problem('invalidBotSignature');
  return new BotCall(id, await fingerprintOf(new URL(request.url).pathname, body));
}

const webhooksOf = oncePer((secrets: string[]) => secrets.map((secret) => new Webhook(secret)));

function signedWith(webhook: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    webhook.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

async function fingerprintOf(path: string, body: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${path}\n${body}`));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
