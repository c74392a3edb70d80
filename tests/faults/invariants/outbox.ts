import { planOf } from '../../../worker/contract/plans.ts';
import type { Person } from '../person.ts';
import type { World } from '../world.ts';
import { accountsIn, type Account } from './accounts.ts';
import { examine, type Finding } from './finding.ts';

type BotEvent = { type: string; timestamp: string; data: { phone: string; platform?: string; tier?: string } };

/** As many events as were ever put into the outbox have reached the bot, and none waits. */
export async function everyEventArrived({ rig }: World): Promise<Finding> {
  const { rows } = await rig.database.execute(`select (select count(*) from outbox) as waiting,
    (select seq from sqlite_sequence where name = 'outbox') as written`);
  const { waiting, written } = rows[0] as unknown as { waiting: number; written: number | null };
  const arrived = (await rig.control<BotEvent[]>('GET', '/bot/events')).length;
  const isWhole = waiting === 0 && arrived === (written ?? 0);
  const broken = isWhole ? [] : [`${written} events were written, ${arrived} arrived, ${waiting} wait`];
  return { what: 'outbox events delivered to the bot', checked: written ?? 0, broken };
}

/** The bot has heard of each change once and in its order, and knows how things stand. */
export async function botKnowsAll({ people, rig }: World): Promise<Finding> {
  const events = Map.groupBy(await rig.control<BotEvent[]>('GET', '/bot/events'), ({ data }) => data.phone);
  const accounts = await accountsIn(rig.database);
  return examine('the bot heard of each change once, in order', people, (person) => {
    const account = accounts.get(person.phone);
    return account ? wrongNews(person, account, events.get(person.phone) ?? []) : null;
  });
}

function wrongNews({ phone, platforms }: Person, account: Account, events: BotEvent[]): string | null {
  const heard = events.flatMap(({ type, data }) => (type === 'platform.changed' ? [data.platform!] : []));
  if (!isTold(platforms, heard, account)) {
    return `${phone} chose ${platforms.join()} and has ${account.platform}; the bot heard ${heard.join()}`;
  }
  const plan = events.findLast(({ type }) => type === 'plan.changed')?.data.tier ?? 'free';
  const entitled = entitledTier(account);
  return plan === entitled ? null : `${phone} has ${entitled}; the bot knows of ${plan}`;
}

/**
 * Every answered choice in its order, each change once, and the last one as it stands. More may be heard: what a killed
 * Worker has asked of a silent database happens late, after its caller has asked again and chosen anew.
 */
function isTold(chosen: string[], heard: string[], { platform }: Account): boolean {
  let next = 0;
  for (const each of heard) if (each === chosen[next]) next += 1;
  const changes = ['whatsapp', ...heard];
  const isChange = heard.every((each, index) => each !== changes[index]);
  return next === chosen.length && isChange && changes.at(-1) === platform;
}

/** The trials of a run last longer than the run. */
function entitledTier({ tier, trial_tier: trial, tier_waits: waits }: Account): string {
  return trial && (waits === 1 || planOf(trial).level > planOf(tier).level) ? trial : tier;
}
