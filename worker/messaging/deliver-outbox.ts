import { sql, type SQL } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import type { Database } from '../db.ts';
import type { Settings } from '../settings.ts';

type Event = { seq: number; id: string; phone: string; body: string; attempts: number };

const pauseMs = 250;
const leaseMs = 30_000;
const timeoutMs = 5000;
const patienceMs = 20_000;
const atOnce = 20;
/** The cron runs every minute: no first delay is worth more than that, and an hour is the longest. */
const delaysMs = [5_000, 15_000, 30_000, 45_000, 60_000, 120_000, 300_000, 900_000, 3_600_000];

/** Tells the bot what a call has left for one number; a moment later, so that the call is answered first. */
export async function deliverSoon(db: Database, settings: Settings, phone: string): Promise<void> {
  await scheduler.wait(pauseMs);
  await deliver(db, settings, await db.all<Event>(lease(sql`and phone = ${phone}`)));
}

/** Tells the bot everything that is due. */
export async function deliverOutbox(db: Database, settings: Settings): Promise<void> {
  const until = Date.now() + patienceMs;
  while (Date.now() < until) {
    const events = await db.all<Event>(lease());
    if (events.length === 0) return;
    await deliver(db, settings, events);
  }
}

/** Follows each number from event to event; what the bot does not take waits for its next turn. */
async function deliver(db: Database, settings: Settings, leased: Event[]): Promise<void> {
  const until = Date.now() + patienceMs;
  let events = leased;
  while (events.length > 0 && Date.now() < until) {
    const taken = await Promise.all(events.map((event) => tell(settings, event)));
    events = await settle(db, events, taken);
  }
}

/** Takes the oldest event of each number, if it is due and nobody else delivers it: so each number keeps its order. */
function lease(whose: SQL = sql``): SQL {
  const now = Date.now();
  return sql`update outbox set leased_until = ${now + leaseMs}, attempts = attempts + 1
    where seq in (select seq from outbox o where due_at <= ${now} and leased_until <= ${now} ${whose}
      and not exists (select 1 from outbox earlier where earlier.phone = o.phone and earlier.seq < o.seq)
      order by due_at limit ${sql.raw(String(atOnce))})
    returning seq, id, phone, body, attempts`;
}

async function tell(settings: Settings, { id, body }: Event): Promise<boolean> {
  const at = new Date();
  const signatures = settings.BOT_WEBHOOK_SECRET.map((secret) => new Webhook(secret).sign(id, at, body));
  try {
    const response = await fetch(settings.BOT_WEBHOOK_URL, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
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

/** Forgets what the bot took, postpones the rest, and takes what follows: one round trip. */
async function settle(db: Database, events: Event[], taken: boolean[]): Promise<Event[]> {
  const now = Date.now();
  const statements = events.map(({ seq, attempts }, index) => {
    if (taken[index]) return db.run(sql`delete from outbox where seq = ${seq}`);
    const dueAt = now + delaysMs[Math.min(attempts, delaysMs.length) - 1]!;
    return db.run(sql`update outbox set leased_until = 0, due_at = ${dueAt} where seq = ${seq}`);
  });
  const phones = events.filter((_, index) => taken[index]).map(({ phone }) => phone);
  if (phones.length === 0) {
    await db.batch([statements[0]!, ...statements.slice(1)]);
    return [];
  }
  const results = await db.batch([
    statements[0]!,
    ...statements.slice(1),
    db.all<Event>(lease(sql`and phone in ${phones}`)),
  ]);
  return results.at(-1) as Event[];
}
