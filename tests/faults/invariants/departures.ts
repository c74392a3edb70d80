import { decodeJwt } from 'jose';
import type { Person } from '../person.ts';
import type { World } from '../world.ts';
import { examine, type Finding } from './finding.ts';
import { liveIn } from './stripe-standing.ts';
import { holdingsOf } from './subscriptions.ts';

type Departure = { type: string; data: { phone: string; userId: string } };

const rowsLeft = `select (select count(*) from users where id = :id or phone = :phone) as users,
  (select count(*) from sessions where user_id = :id) as sessions,
  (select count(*) from customers where user_id = :id) as customers,
  (select count(*) from trial_links where user_id = :id) as trials,
  (select count(*) from codes where phone = :phone) as codes`;

/** Of whoever has left no row is left, nothing can be charged, no session works, and the bot was told once. */
export async function leaversAreGone(world: World): Promise<Finding> {
  const events = await world.rig.control<Departure[]>('GET', '/bot/events');
  const told = Map.groupBy(
    events.filter(({ type }) => type === 'user.deleted'),
    ({ data }) => data.phone,
  );
  const leavers = world.people.filter(({ left }) => left);
  return examine('accounts deleted, and all that was theirs', leavers, async (person) => {
    const traces = [
      ...(await tracesInDatabase(world, person)),
      ...(await tracesAtStripe(world, person)),
      ...newsOf(person, told.get(person.phone) ?? []),
    ];
    const { status } = await world.site.call('profile', 'GET', '/api/user/me', { token: person.token });
    if (status !== 401) traces.push(`a session that is answered ${status}`);
    return traces.length > 0 ? `${person.phone} has left: ${traces.join(', ')}` : null;
  });
}

const userIdOf = ({ token }: Person): string => decodeJwt(token!).sub!;

async function tracesInDatabase({ rig }: World, person: Person): Promise<string[]> {
  const args = { id: userIdOf(person), phone: person.phone };
  const { rows } = await rig.database.execute({ sql: rowsLeft, args });
  const counts = Object.entries(rows[0] as unknown as Record<string, number>);
  return counts.flatMap(([table, count]) => (count > 0 ? `${count} in ${table}` : []));
}

async function tracesAtStripe(world: World, person: Person): Promise<string[]> {
  const holdings = await holdingsOf(world, person);
  if (!holdings) return [];
  const live = liveIn(holdings).length;
  return [
    ...(holdings.customer.deleted ? [] : [`Stripe has ${holdings.customer.id}`]),
    ...(live > 0 ? [`${live} subscriptions that charge`] : []),
  ];
}

function newsOf(person: Person, told: Departure[]): string[] {
  const right = told.length === 1 && told[0]!.data.userId === userIdOf(person);
  return right ? [] : [`the bot heard it ${told.length} times`];
}
