import type { World } from '../world.ts';
import { accountsIn, countOf, signedIn } from './accounts.ts';
import { checkCases, type Finding } from './finding.ts';

/** Every tab has reconnected, and its stream has sent the total of the database. */
export async function streamsAgree(world: World): Promise<Finding> {
  const accounts = await accountsIn(world.rig.database);
  const streams = signedIn(world).flatMap((person) => person.followers.map((follower) => ({ person, follower })));
  return checkCases('open streams end at the total of the database', streams, ({ person: { phone }, follower }) => {
    const count = countOf(accounts.get(phone)!);
    if (follower.total === count) return null;
    return `${phone}: the stream tells ${follower.total ?? 'nothing'}, the database ${count}`;
  });
}
