import { isNull } from 'drizzle-orm';
import { outbox } from '#db/schema';
import { planOf } from '../../../worker/contract/plans.ts';
import type { Person } from '../person.ts';
import type { Rig, World } from '../rig.ts';
import type { Json } from '../site.ts';
import { accountsIn, type Account, checkCases, type Finding } from './accounts.ts';

export type BotEvent = { type: string; timestamp: string; data: Json };

export async function botEventsIn({ control }: Rig): Promise<Map<string, BotEvent[]>> {
  return Map.groupBy(await control<BotEvent[]>('GET', '/bot/events'), ({ data }) => data.phone as string);
}

/**
 * No event waits, and the bot received every written event. Not checked here: deleted users, whose earlier events are
 * withdrawn, and `chat.message`, which a clearing withdraws and which has its own invariant.
 */
export async function everyEventArrived({ people, rig }: World): Promise<Finding> {
  const waiting = await rig.database.select().from(outbox).where(isNull(outbox.parkedAt));
  const history = await rig.database.all<{ phone: string; type: string }>('select phone, type from outbox_history');
  const left = new Set(people.filter((person) => person.left).map(({ phone }) => phone));
  const written = history.filter(({ phone, type }) => type !== 'chat.message' && !left.has(phone));
  const counts = Map.groupBy(written, ({ phone, type }) => `${phone} ${type}`);
  const events = [...(await botEventsIn(rig)).values()].flat();
  const arrived = Map.groupBy(events, ({ type, data }) => `${data.phone} ${type}`);
  const finding = await checkCases('outbox events delivered to the bot', counts, ([which, { length }]) => {
    const { length: received } = arrived.get(which) ?? [];
    return received === length ? null : `${which}: ${length} written, ${received} arrived`;
  });
  finding.broken.push(...waiting.map(({ body }) => `waits: ${body}`));
  return { ...finding, checked: written.length };
}

/** The bot received each change once and in order, and its latest event matches the database. */
export async function botReceivedChanges({ people, rig }: World): Promise<Finding> {
  const events = await botEventsIn(rig);
  const accounts = await accountsIn(rig.database);
  return checkCases('the bot received each change once, in order', people, (person) => {
    const account = accounts.get(person.phone);
    return account ? changesError(person, account, events.get(person.phone) ?? []) : null;
  });
}

function changesError({ phone, platforms }: Person, account: Account, events: BotEvent[]): string | null {
  const received = events.flatMap(({ type, data }) => (type === 'platform.changed' ? [data.platform as string] : []));
  if (!isReported(platforms, received, account)) {
    return `${phone} chose ${platforms.join()} and has ${account.platform}; the bot received ${received.join()}`;
  }
  const plan = events.findLast(({ type }) => type === 'plan.changed')?.data.tier ?? 'free';
  const entitled = entitledTier(account);
  return plan === entitled ? null : `${phone} has ${entitled}; the bot knows of ${plan}`;
}

/**
 * The bot received every confirmed choice in order, each change once, and the current one last. It may have received
 * more: a write that a killed Worker sent to a slow database may happen after its caller has repeated the call.
 */
function isReported(chosen: string[], received: string[], { platform }: Account): boolean {
  let next = 0;
  for (const each of received) if (each === chosen[next]) next += 1;
  const changes = ['whatsapp', ...received];
  const isChange = received.every((each, index) => each !== changes[index]);
  return next === chosen.length && isChange && changes.at(-1) === platform;
}

/** Every trial lasts longer than the run. */
function entitledTier({ tier, trialTier: trial, tierWaits }: Account): string {
  return trial && (tierWaits || planOf(trial).level > planOf(tier).level) ? trial : tier;
}
