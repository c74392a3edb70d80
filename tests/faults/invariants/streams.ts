import type { World } from '../world.ts';
import { accountsIn, countOf, signedIn } from './accounts.ts';
import { examine, type Finding } from './finding.ts';

/** Every tab has its stream back, and the stream has told the total that the database holds. */
export async function streamsAgree(world: World): Promise<Finding> {
  const accounts = await accountsIn(world.rig.database);
  const streams = signedIn(world).flatMap((person) => person.followers.map((follower) => ({ person, follower })));
  return examine('open streams end at the total of the database', streams, ({ person: { phone }, follower }) => {
    const count = countOf(accounts.get(phone)!);
    if (follower.total === count) return null;
    return `${phone}: the stream tells ${follower.total ?? 'nothing'}, the database ${count}`;
  });
}
