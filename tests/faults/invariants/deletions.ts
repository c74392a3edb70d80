import { decodeJwt } from 'jose';
import { sql } from 'drizzle-orm';
import type { Person } from '../person.ts';
import type { World } from '../rig.ts';
import { signedIn, checkCases, type Finding } from './accounts.ts';
import { storedMessages, type BotEvent, botEventsIn } from './conversations.ts';
import { liveIn, holdingsOf } from './entitlements.ts';

/** A deleted user has no row, no possible charge and no working session, and the bot received one `user.deleted`. */
export async function deletedAccountsAreGone(world: World): Promise<Finding> {
  const events = await botEventsIn(world.rig);
  const leavers = world.people.filter(({ left }) => left);
  const finding = await checkCases(
    'accounts deleted, and all that was theirs',
    leavers,
    async (person) => {
      const traces = [
        ...(await tracesInDatabase(world, person)),
        ...(await tracesAtStripe(world, person)),
        ...tracesAtBot(person, events.get(person.phone) ?? []),
      ];
      const messages = storedMessages(world.rig.stateDir, userIdOf(person));
      if (messages > 0) traces.push(`${messages} messages in the conversation`);
      const { status } = await world.site.call('getMe', { token: person.token });
      if (status !== 401) traces.push(`a session that is answered ${status}`);
      return traces.length > 0 ? `${person.phone} has left: ${traces.join(', ')}` : null;
    },
  );
  return {
    ...finding,
    broken: [...finding.broken, ...unreadable(world)],
  };
}

/** Existing conversations are found by the same method that must find none of a deleted user. */
function unreadable(world: World): string[] {
  const writers = signedIn(world).filter(({ conversation }) => conversation.accepted.length > 0);
  const missing = writers.filter(
    (person) => storedMessages(world.rig.stateDir, userIdOf(person)) === 0,
  );
  return missing.map(({ phone }) => `no stored message of ${phone} was found`);
}

const userIdOf = ({ token }: Person): string => decodeJwt(token!).sub!;

async function tracesInDatabase({ rig }: World, person: Person): Promise<string[]> {
  const [id, phone] = [userIdOf(person), person.phone];
  const counts = await rig.database.get<Record<string, number>>(sql`
    select (select count(*) from users where id = ${id} or phone = ${phone}) as users,
      (select count(*) from aliases where user_id = ${id} or value = ${phone}) as aliases,
      (select count(*) from sessions where user_id = ${id}) as sessions,
      (select count(*) from push_subscriptions where user_id = ${id}) as subscriptions,
      (select count(*) from customers where user_id = ${id}) as customers,
      (select count(*) from trial_links where user_id = ${id}) as trials,
      (select count(*) from codes where phone = ${phone}) as codes,
      (select count(*) from outbox where phone = ${phone}) as outbox,
      (select count(*) from chat_erasures where user_id = ${id} and due_at <= unixepoch() * 1000) as overdue_erasures`);
  return Object.entries(counts).flatMap(([table, count]) =>
    count > 0 ? `${count} in ${table}` : [],
  );
}

async function tracesAtStripe({ rig }: World, person: Person): Promise<string[]> {
  const holdings = await holdingsOf(rig, person);
  const live = liveIn(holdings).length;
  return [
    ...(holdings.customer.deleted ? [] : [`Stripe has ${holdings.customer.id}`]),
    ...(live > 0 ? [`${live} subscriptions that charge`] : []),
  ];
}

/** `user.deleted` arrives once and last. */
function tracesAtBot(person: Person, events: BotEvent[]): string[] {
  const deletions = events.filter(({ type }) => type === 'user.deleted');
  const isRight = deletions.length === 1 && deletions[0]!.data.userId === userIdOf(person);
  const isLast = events.at(-1)?.type === 'user.deleted';
  return isRight && isLast ? [] : [`the bot received ${events.map(({ type }) => type).join()}`];
}
