import type { World } from '../world.ts';
import type { Client } from '@libsql/client/web';
import { currentWeek } from '../../../worker/usage/week.ts';
import type { Person } from '../person.ts';

/** An invariant, the number of checked cases, and its violations. */
export type Finding = { what: string; checked: number; broken: string[] };

export type Invariant = (world: World) => Promise<Finding>;

/** Checks every case, a few concurrently; `violationOf` returns the violation of a case, or null. */
export async function checkCases<Case>(
  what: string,
  cases: Iterable<Case>,
  violationOf: (each: Case) => Promise<string | null> | string | null,
): Promise<Finding> {
  const finding: Finding = { what, checked: 0, broken: [] };
  const queue = [...cases];
  const work = async () => {
    for (let each = queue.pop(); each !== undefined; each = queue.pop()) {
      finding.checked += 1;
      const wrong = await violationOf(each);
      if (wrong !== null) finding.broken.push(wrong);
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return finding;
}

/** The checked columns of `users`; instants in unix ms. */
export type Account = {
  phone: string;
  platform: string;
  tier: string;
  subscription_status: string;
  renewal_at: number | null;
  cancel_at: number | null;
  scheduled_tier: string | null;
  trial_tier: string | null;
  tier_waits: number;
  week_anchor: number;
  week_frozen: number;
  week_start: number;
  used: number;
  sessions: number;
};

/** The rows of all users, by phone. */
export async function accountsIn(database: Client): Promise<Map<string, Account>> {
  const { rows } = await database.execute(
    `select u.*, (select count(*) from sessions s where s.user_id = u.id) as sessions from users u`,
  );
  return new Map((rows as unknown as Account[]).map((row) => [row.phone, row]));
}

/** The count of the current week. */
export function countOf({ week_anchor, week_frozen, week_start, used }: Account): number {
  const weeks = { weekAnchor: week_anchor, weekFrozen: week_frozen === 1, weekStart: week_start };
  return currentWeek(weeks, Date.now()) === week_start ? used : 0;
}

/** The users who have a session and have not left. */
export const signedIn = ({ people }: World): Person[] =>
  people.filter(({ token, left }) => token !== undefined && !left);
