import type { World } from '../world.ts';
import { accountsIn } from './accounts.ts';
import { checkCases, type Finding } from './finding.ts';

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
