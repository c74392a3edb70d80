import type { Person } from '../person.ts';
import { untilTaken, type World } from '../world.ts';

/** Chooses the other platform, so that every successful call is one event for the bot. */
export async function changePlatform(world: World, person: Person): Promise<void> {
  const platform = (person.platforms.at(-1) ?? 'whatsapp') === 'whatsapp' ? 'web' : 'whatsapp';
  const { token } = person;
  const answer = await untilTaken(world, person, () =>
    world.site.call('change platform', 'PUT', '/api/user/platform', { token, body: { platform } }),
  );
  if (answer.status === 200) person.platforms.push(platform);
  else world.seen.push(`${person.phone} could not change the platform: ${answer.code}`);
}
