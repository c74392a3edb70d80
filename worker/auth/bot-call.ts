import { sql, type SQL } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { Webhook } from 'standardwebhooks';
import type { Database } from '../db.ts';
import { Problem } from '../problem.ts';

type Row = { fingerprint: string; by: string; answer: string };

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

  /** SQL: whether this very call is the one that took the id. */
  get won(): SQL<boolean> {
    return sql`exists (select 1 from bot_calls where id = ${this.id} and by = ${this.#nonce})`;
  }

  /**
   * Applies the call once. `answer` is SQL for a JSON text, read before the effects; where it yields no row the call
   * is not remembered and the result is null.
   */
  async once<Answer>(
    db: Database,
    now: number,
    answer: SQL,
    effects: SQL[],
  ): Promise<{ answer: Answer; first: boolean } | null> {
    const claim = sql`insert into bot_calls (id, fingerprint, by, at, answer)
      select ${this.id}, ${this.#fingerprint}, ${this.#nonce}, ${now}, answer from (${answer}) where true
      on conflict do nothing`;
    const kept = db.all<Row>(sql`select fingerprint, by, answer from bot_calls where id = ${this.id}`);
    const statements = [claim, ...effects].map((statement) => db.run(statement));
    const results = await db.batch([...statements, kept] as unknown as [BatchItem<'sqlite'>]);
    const [row] = (results as unknown[]).at(-1) as Row[];
    if (!row) return null;
    if (row.fingerprint !== this.#fingerprint) throw new Problem('idReused');
    return { answer: JSON.parse(row.answer) as Answer, first: row.by === this.#nonce };
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
  if (!secrets.some((secret) => signedWith(secret, body, headers))) throw new Problem('invalidBotSignature');
  return new BotCall(id, await fingerprintOf(new URL(request.url).pathname, body));
}

function signedWith(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

async function fingerprintOf(path: string, body: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${path}\n${body}`));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
