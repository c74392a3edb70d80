import type { World } from '../world.ts';
import { accountsIn, checkCases, type Finding } from './accounts.ts';
import { total } from '../records.ts';

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
  const errors = figures.failures.get('internal') ?? 0;
  const broken = errors ? [`${errors} responses were "internal"`, ...seen] : [...seen];
  const checked = [...figures.calls.values()].reduce((sum, each) => sum + each, 0);
  return { what: 'responses without an unexpected error', checked, broken };
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
  const result = latencies.compare();
  if (!result) return { what, checked: 0, broken: [] };
  const { calm, attacked, calls } = result;
  if (calls < fewCalls) return { what, checked: 0, broken: [] };
  const broken = attacked > mostSlower * calm ? [`${attacked.toFixed(1)} ms, calm ${calm.toFixed(1)} ms`] : [];
  return { what, checked: calls, broken };
}

/** No response to an attacker is an unexpected error. */
export async function attackersSeeNoErrors({ figures: { attackers } }: World): Promise<Finding> {
  const errors = attackers.failures.get('internal') ?? 0;
  const broken = errors > 0 ? [`${errors} responses were "internal"`] : [];
  return { what: 'responses to attackers without an unexpected error', checked: total(attackers.calls), broken };
}
