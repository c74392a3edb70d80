import type { Person } from '../person.ts';
import { untilTaken, type World } from '../world.ts';
import { signIn } from './sign-in.ts';

/** Logs out, here or everywhere, checks that the old session has ended, and signs in again. */
export async function logOut(world: World, person: Person): Promise<void> {
  const { site, seen } = world;
  const { choices, phone, token } = person;
  const body = { everywhere: choices.chance(0.3) };
  person.endSessions(body.everywhere);
  const answer = await untilTaken(world, person, () =>
    site.call('log out', 'POST', '/api/auth/logout', { token, body }),
  );
  // 401: the successful response was lost.
  if (answer.status !== 200 && answer.status !== 401) seen.push(`${phone} could not log out: ${answer.code}`);
  const after = await untilTaken(world, person, () => site.call('profile', 'GET', '/api/user/me', { token }));
  if (after.status !== 401) seen.push(`${phone} has logged out and is answered ${after.status}`);
  await signIn(world, person);
}
