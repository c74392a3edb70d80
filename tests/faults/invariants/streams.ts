import type { World } from '../world.ts';
import { accountsIn, countOf } from './accounts.ts';
import { examine, type Finding } from './finding.ts';

/** Every tab has its stream back, and the stream has told the total that the database holds. */
export async function streamsAgree({ people, rig }: World): Promise<Finding> {
  const accounts = await accountsIn(rig.database);
  const streams = people.flatMap((person) => person.followers.map((follower) => ({ person, follower })));
  return examine('open streams end at the total of the database', streams, ({ person: { phone }, follower }) => {
    const count = countOf(accounts.get(phone)!);
    if (follower.total === count) return null;
    return `${phone}: the stream tells ${follower.total ?? 'nothing'}, the database ${count}`;
  });
}
