import { sql } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import type { Database } from '../db.ts';
import type { Settings } from '../settings.ts';

type Event = { seq: number; id: string; body: string; attempts: number };

const leaseMs = 30_000;
const timeoutMs = 5000;
const batchSize = 20;
/** An owner's cron runs every minute: no delay is worth less than that, and an hour is the longest. */
const delaysMs = [5_000, 15_000, 30_000, 45_000, 60_000, 120_000, 300_000, 900_000, 3_600_000];

/** Tells the bot what is due, for one number or for all, until nothing is left or `until` (unix ms) has come. */
export async function deliverOutbox(
  db: Database,
  settings: Settings,
  phone: string | null = null,
  until = Date.now() + 20_000,
): Promise<void> {
  const events = await lease(db, phone);
  if (events.length === 0) return;
  const taken = await Promise.all(events.map((event) => deliver(settings, event)));
  await settle(db, events, taken);
  if (taken.includes(true) && Date.now() < until) await deliverOutbox(db, settings, phone, until);
}

/** Takes the oldest event of each number, if it is due and nobody else delivers it: so each number keeps its order. */
function lease(db: Database, phone: string | null): Promise<Event[]> {
  const now = Date.now();
  const whose = phone ? sql`and phone = ${phone}` : sql``;
  return db.all<Event>(sql`update outbox set leased_until = ${now + leaseMs}, attempts = attempts + 1
    where seq in (select seq from outbox o where due_at <= ${now} and leased_until <= ${now} ${whose}
      and not exists (select 1 from outbox earlier where earlier.phone = o.phone and earlier.seq < o.seq)
      order by due_at limit ${sql.raw(String(batchSize))})
    returning seq, id, body, attempts`);
}

async function deliver(settings: Settings, { id, body }: Event): Promise<boolean> {
  const at = new Date();
  try {
    const response = await fetch(settings.BOT_WEBHOOK_URL, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': settings.BOT_WEBHOOK_SECRET.map((secret) => new Webhook(secret).sign(id, at, body)).join(
          ' ',
        ),
      },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

async function settle(db: Database, events: Event[], taken: boolean[]): Promise<void> {
  const statements = events.map(({ seq, attempts }, index) => {
    if (taken[index]) return db.run(sql`delete from outbox where seq = ${seq}`);
    const dueAt = Date.now() + delaysMs[Math.min(attempts, delaysMs.length) - 1]!;
    return db.run(sql`update outbox set leased_until = 0, due_at = ${dueAt} where seq = ${seq}`);
  });
  const [first, ...rest] = statements;
  await db.batch([first!, ...rest]);
}
