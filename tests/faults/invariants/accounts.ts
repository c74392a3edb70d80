import { eq, getTableColumns } from 'drizzle-orm';
import { sessions, users } from '#db/schema';
import { inParallel } from '../../bench/measurement.ts';
import type { Person } from '../person.ts';
import { type CallFigures, total } from '../records.ts';
import type { Rig, World } from '../rig.ts';

export type Finding = {
  what: string;
  checked: number;
  broken: string[];
};
export type Invariant = (world: World) => Promise<Finding>;

/** Returns the violation of a case, or null. */
type Law<Case> = (each: Case) => Promise<string | null> | string | null;

export async function checkCases<Case>(
  what: string,
  cases: Iterable<Case>,
  violationOf: Law<Case>,
): Promise<Finding> {
  const finding: Finding = { what, checked: 0, broken: [] };
  await inParallel(6, cases, async (each) => {
    finding.checked += 1;
    const wrong = await violationOf(each);
    if (wrong !== null) finding.broken.push(wrong);
  });
  return finding;
}

export type Account = typeof users.$inferSelect & { sessions: number };

export async function accountsIn(database: Rig['database']): Promise<Map<string, Account>> {
  const count = database.$count(sessions, eq(sessions.userId, users.id));
  const rows = await database
    .select({
      ...getTableColumns(users),
      sessions: count,
    })
    .from(users);
  return new Map(rows.map((row) => [row.phone, row]));
}

export const signedIn = ({ people }: Pick<World, 'people'>): Person[] =>
  people.filter(({ token, left }) => token !== undefined && !left);

/** Every number of a user is an alias, and every alias has its user. */
export async function namesAreOfUsers({ people, rig }: World): Promise<Finding> {
  const rows = await rig.database.all<{ wrong: string }>(`
    select phone || ' is no alias of its user' as wrong from users left join aliases
      on kind = 'phone' and value = phone and user_id = id where user_id is null
    union all select value || ' is of nobody' from aliases left join users on id = user_id where id is null`);
  return {
    what: 'names lead to their users',
    checked: people.length,
    broken: rows.map(({ wrong }) => wrong),
  };
}

/** No code has opened two sessions, and every session was opened by a code or trial link. */
export async function codesWorkOnce({ people, rig }: World): Promise<Finding> {
  const accounts = await accountsIn(rig.database);
  const finding = await checkCases(
    'codes opened one session at most',
    people,
    ({ phone, codes, trials }) => {
      const twice = [...codes.values()].find((opened) => opened > 1);
      if (twice) return `${phone}: a code opened ${twice} sessions`;
      const open = accounts.get(phone)?.sessions ?? 0;
      return open > codes.size + trials
        ? `${phone} has ${open} sessions of ${codes.size} codes`
        : null;
    },
  );
  return {
    ...finding,
    checked: people.reduce((sum, { codes }) => sum + codes.size, 0),
  };
}

export async function nobodyIsStuck({ people }: World): Promise<Finding> {
  return checkCases('every action came to its end', people, ({ phone, doing, token }) => {
    if (doing !== undefined) return `${phone} is stuck at ${doing}`;
    return token ? null : `${phone} never got in`;
  });
}

/** No response was an unexpected error, and no violation was seen during the run. */
export async function noUnexpectedErrors({ figures, seen }: World): Promise<Finding> {
  const finding = internalErrors('responses without an unexpected error', figures);
  return { ...finding, broken: [...finding.broken, ...seen] };
}

export async function attackersSeeNoErrors({ figures }: World): Promise<Finding> {
  return internalErrors('responses to attackers without an unexpected error', figures.attackers);
}

function internalErrors(what: string, { calls, failures }: CallFigures): Finding {
  const errors = failures.get('internal') ?? 0;
  return {
    what,
    checked: total(calls),
    broken: errors > 0 ? [`${errors} responses were "internal"`] : [],
  };
}

const longestRefusalMs = 60_000;
const mostSlower = 2;
/** A short run has too few calls that no fault met: a single pause of the machine changes its median. */
const fewCalls = 200;

export async function nobodyIsLockedOut({ figures }: World): Promise<Finding> {
  return checkCases('refused by attacks, in within a minute', figures.refusals, ({ phone, ms }) =>
    ms > longestRefusalMs ? `${phone} got in ${(ms / 1000).toFixed(0)} s after writing` : null,
  );
}

export async function othersStayFast({ figures }: World): Promise<Finding> {
  const what = 'calls of others within twice their calm latency';
  const { calm, attacked, calls } = figures.latencies.compare() ?? {
    calm: 0,
    attacked: 0,
    calls: 0,
  };
  if (calls < fewCalls) return { what, checked: 0, broken: [] };
  const broken =
    attacked > mostSlower * calm ? [`${attacked.toFixed(1)} ms, calm ${calm.toFixed(1)} ms`] : [];
  return { what, checked: calls, broken };
}
