import type { Person } from '../person.ts';
import { untilTaken, type World } from '../world.ts';

/** Gets a trial link from the bot and redeems it. */
export async function startTrial(world: World, person: Person, tier: string): Promise<void> {
  const id = person.nextId('trial');
  const order = { phone: person.phone, tier, days: 7 };
  const link = await untilTaken(world, person, () => world.site.bot('bot trial', '/api/bot/trials', id, order));
  if (!link.body.url) {
    world.seen.push(`${person.phone} got no trial: ${link.code}`);
    return;
  }
  const body = { trialToken: new URL(link.body.url).searchParams.get('token') };
  const answer = await untilTaken(world, person, () =>
    world.site.call('activate trial', 'POST', '/auth/verify-trial-token', {
      body,
      address: person.address(),
      phone: person.phone,
    }),
  );
  // A used link was redeemed by a call whose response was lost.
  if (answer.status !== 200 && answer.status !== 401) world.seen.push(`${person.phone}: trial ${answer.code}`);
  person.trials += 1;
}
