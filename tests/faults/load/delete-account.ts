import { sendMessage } from '../chat/write-message.ts';
import type { Person } from '../person.ts';
import { untilTaken, type World } from '../world.ts';
import { submit } from './plan.ts';
import { write } from './post.ts';

/** Deletes the account while other tabs and the bot still make calls. */
export async function deleteAccount(world: World, person: Person): Promise<void> {
  const { site, seen } = world;
  const { choices, phone, token } = person;
  const chat = async () => (person.conversation.consented ? sendMessage(world, person) : undefined);
  const doings = [
    chat,
    () => write(world, person),
    () => buyAtOnce(world, person),
    () => choosePlatform(world, person),
  ];
  person.left = true;
  const others = doings.filter(() => choices.chance(0.4)).map((doing) => doing());
  const answer = await untilTaken(world, person, () => site.call('leave', 'DELETE', '/api/user/me', { token }));
  // 401: the successful response was lost.
  if (answer.status !== 200 && answer.status !== 401) seen.push(`${phone} could not leave: ${answer.code}`);
  await Promise.all(others);
  for (const tab of [...person.followers, ...person.chats]) tab.stream.close();
}

/** Another tab requests a checkout, and completes it if there is one. */
async function buyAtOnce({ site }: World, { choices, token }: Person): Promise<void> {
  const body = { tier: choices.pick(['basic', 'premium', 'platinum']) };
  const path = '/api/billing/create-subscription-update-session';
  const { body: answer } = await site.call('plan page', 'POST', path, { token, body });
  const url = answer.portalUrl as string | undefined;
  if (url?.includes('/checkout/')) await submit(url, {});
}

async function choosePlatform({ site }: World, { token }: Person): Promise<void> {
  await site.call('change platform', 'PUT', '/api/user/platform', { token, body: { platform: 'web' } });
}
