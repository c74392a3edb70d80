import type { World } from '../rig.ts';
import type { Client } from '@libsql/client/web';
import { currentWeek } from '../../../worker/usage/week.ts';
import type { Person } from '../person.ts';
import { type CallFigures, total } from '../records.ts';

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

/** Every number of a user is an alias, every alias has its user, and the copies for the version before agree. */
export async function namesAreOfUsers({ people, rig }: World): Promise<Finding> {
  const { rows } = await rig.database.execute(`
    select phone || ' is no alias of its user' as wrong from users left join aliases
      on kind = 'phone' and value = phone and user_id = id where user_id is null
    union all select value || ' is of nobody' from aliases left join users on id = user_id where id is null
    union all select value || ' is not known to the version before' from aliases a
      left join identities i on i.business_user_id = a.value and i.user_id = a.user_id
      where a.kind = 'business' and i.user_id is null`);
  return {
    what: 'names lead to their users',
    checked: people.length,
    broken: rows.map(({ wrong }) => wrong as string),
  };
}

/** No code has opened two sessions, and every session was opened by a code or trial link. */
export async function codesWorkOnce({ people, rig }: World): Promise<Finding> {
  const accounts = await accountsIn(rig.database);
  const finding = await checkCases('codes opened one session at most', people, ({ phone, codes, trials }) => {
    const twice = [...codes].find(([, sessions]) => sessions > 1);
    if (twice) return `${phone}: a code opened ${twice[1]} sessions`;
    const sessions = accounts.get(phone)?.sessions ?? 0;
    return sessions > codes.size + trials ? `${phone} has ${sessions} sessions of ${codes.size} codes` : null;
  });
  return { ...finding, checked: people.reduce((sum, { codes }) => sum + codes.size, 0) };
}

/** Every user has completed the action that was running when the services were repaired. */
export async function nobodyIsStuck({ people }: World): Promise<Finding> {
  return checkCases('every action came to its end', people, ({ phone, doing, token }) => {
    if (doing !== undefined) return `${phone} is stuck at ${doing}`;
    return token ? null : `${phone} never got in`;
  });
}

/** No response was an unexpected error, and no violation was seen during the run. */
export async function noUnexpectedErrors({ figures, seen }: World): Promise<Finding> {
  const { checked, broken } = internalErrors(figures);
  return { what: 'responses without an unexpected error', checked, broken: [...broken, ...seen] };
}

/** No response to an attacker is an unexpected error. */
export async function attackersSeeNoErrors({ figures: { attackers } }: World): Promise<Finding> {
  return { what: 'responses to attackers without an unexpected error', ...internalErrors(attackers) };
}

function internalErrors({ calls, failures }: CallFigures): Omit<Finding, 'what'> {
  const errors = failures.get('internal') ?? 0;
  return { checked: total(calls), broken: errors > 0 ? [`${errors} responses were "internal"`] : [] };
}

const longestRefusalMs = 60_000;
const mostSlower = 2;
/** A short run has too few calls that no fault met: a single pause of the machine changes its median. */
const fewCalls = 200;

/** A user who is refused a sign-in and writes to the assistant signs in within a minute. */
export async function nobodyIsLockedOut({ figures }: World): Promise<Finding> {
  const late = figures.refusals.filter(({ ms }) => ms > longestRefusalMs);
  const broken = late.map(({ phone, ms }) => `${phone} got in ${(ms / 1000).toFixed(0)} s after writing`);
  return { what: 'refused by attacks, in within a minute', checked: figures.refusals.length, broken };
}

/** During an attack, the calls of others take at most twice as long as without one. */
export async function othersStayFast({ latencies }: World): Promise<Finding> {
  const what = 'calls of others within twice their calm latency';
  const { calm, attacked, calls } = latencies.compare() ?? { calm: 0, attacked: 0, calls: 0 };
  if (calls < fewCalls) return { what, checked: 0, broken: [] };
  const broken = attacked > mostSlower * calm ? [`${attacked.toFixed(1)} ms, calm ${calm.toFixed(1)} ms`] : [];
  return { what, checked: calls, broken };
}
