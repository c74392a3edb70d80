import type { Person } from '../person.ts';
import type { Answer } from '../site.ts';
import { isNotNow, pause, untilTaken, type World } from '../world.ts';
import { sendMessage } from './conversation.ts';
import { submit, write } from './plan-acts.ts';

const arrivalMs = 1500;
const stepMs = 150;

/** The first contact: the bot reports it until the API accepts it. */
export async function reportContact(world: World, person: Person): Promise<void> {
  const id = person.nextId('contact');
  await untilTaken(world, person, () =>
    world.site.bot('bot contact', '/api/bot/contacts', id, { phone: person.phone }),
  );
}

/** Requests codes until one of them opens a session; writes to the assistant after every refusal. */
export async function signIn(world: World, person: Person): Promise<void> {
  let wroteAt: number | undefined;
  for (;;) {
    const code = await receiveCode(world, person);
    const token = code && (await redeem(world, person, code));
    if (token) {
      person.signedIn(token);
      if (wroteAt !== undefined) world.figures.refusals.push({ phone: person.phone, ms: performance.now() - wroteAt });
      return;
    }
    // Others may have reached the limits of this number; a message to the assistant clears them.
    await reportContact(world, person);
    wroteAt ??= performance.now();
    await pause(world, person.choices.between(300, 900));
  }
}

/** The code that arrives, even if the response does not confirm it. */
async function receiveCode(world: World, person: Person): Promise<string | null> {
  const { site, seen } = world;
  const known = (await codesOn(world, person)).length;
  const body = { phone: person.phone };
  const answer = await site.call('request code', 'POST', '/api/auth/request-otp', { body, address: person.address() });
  if (answer.body.requiresInitialContact) seen.push(`${person.phone} wrote to the assistant and is not known`);
  if (answer.status === 429) return null;
  for (let waited = 0; waited < arrivalMs; waited += stepMs) {
    const codes = await codesOn(world, person);
    if (codes.length > known) return codes.at(-1)!;
    await pause(world, stepMs);
  }
  return null;
}

async function codesOn({ rig }: World, { phone }: Person): Promise<string[]> {
  const messages = await rig.control<{ code?: string }[]>('GET', `/phones/${encodeURIComponent(phone)}/messages`);
  return messages.flatMap(({ code }) => code ?? []);
}

/** Sends the code, at times twice concurrently; returns the token, or null if the code is invalid. */
async function redeem(world: World, person: Person, otp: string): Promise<string | null> {
  const key = `${person.codes.size}:${otp}`;
  const body = { phone: person.phone, otp };
  const send = () =>
    world.site.call('verify code', 'POST', '/api/auth/verify-otp', { body, address: person.address() });
  person.codes.set(key, 0);
  const once = async () => {
    const answer = await untilTaken(world, person, send);
    if (answer.status === 200) person.codes.set(key, person.codes.get(key)! + 1);
    return answer;
  };
  const answers = await Promise.all(person.choices.chance(0.3) ? [once(), once()] : [once()]);
  return tokenOf(answers);
}

function tokenOf(answers: Answer[]): string | null {
  return (answers.find((answer) => !isNotNow(answer) && answer.body.token)?.body.token as string) ?? null;
}

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
