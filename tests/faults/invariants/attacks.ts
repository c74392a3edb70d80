import { total } from '../figures.ts';
import type { World } from '../world.ts';
import type { Finding } from './finding.ts';

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
