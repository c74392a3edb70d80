import type { Person } from '../person.ts';
import { untilTaken, type World, isNotNow } from '../world.ts';
import type { Answer } from '../site.ts';

const buttons = { switch: 5, cancel: 2, keep: 3, release: 2, card: 1 } as const;

/** Requests the billing page and uses it: a checkout without a plan, else a button of the portal. */
export async function changePlan(world: World, person: Person): Promise<void> {
  const { choices, token } = person;
  const body = { tier: choices.pick(['basic', 'premium', 'platinum']) };
  const path = '/api/billing/create-subscription-update-session';
  const answer = await untilTaken(world, person, () => world.site.call('plan page', 'POST', path, { token, body }));
  const url = answer.body.portalUrl as string | undefined;
  if (!url) world.seen.push(`${person.phone} got no page to change the plan: ${answer.code}`);
  else if (new URL(url).pathname.startsWith('/checkout/')) await buy(world, person, url);
  else await press(world, person, url);
}

/** Pays, and usually returns to the site; otherwise the plan depends on Stripe's events alone. */
async function buy(world: World, person: Person, url: string): Promise<void> {
  const { choices, token } = person;
  if (choices.chance(0.1)) return;
  const response = await submit(url, {});
  const sessionId = sessionIn(response);
  if (!sessionId) return;
  person.checkouts += 1;
  if (choices.chance(0.3)) return;
  const path = '/api/billing/verify-and-update-checkout-session';
  const answer = await untilTaken(world, person, () =>
    world.site.call('return from checkout', 'POST', path, { token, body: { sessionId } }),
  );
  if (answer.status !== 200) world.seen.push(`${person.phone} came back from ${sessionId}: ${answer.code}`);
}

/** Not every button exists in every state; the portal refuses the others. */
async function press(world: World, person: Person, url: string): Promise<void> {
  const { choices } = person;
  const button = choices.weighted<keyof typeof buttons>(buttons);
  const form = { price: choices.pick([...world.rig.tiers.keys()]) };
  await submit(`${url.split('?')[0]}/${button}`, button === 'switch' ? form : {});
  await readProfile(world, person);
}

/** Reads the profile. */
export async function readProfile(world: World, person: Person): Promise<void> {
  const { token } = person;
  const answer = await untilTaken(world, person, () => world.site.call('profile', 'GET', '/api/user/me', { token }));
  if (answer.status !== 200) world.seen.push(`${person.phone} could not look at the account: ${answer.code}`);
}

/** Submits a form of a Stripe page. */
export function submit(url: string, form: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
}

function sessionIn(response: Response): string | null {
  const location = response.headers.get('location');
  return location && new URL(location).searchParams.get('session_id');
}

/** The bot posts some messages, one by one or concurrently, each until it gets a response. */
export async function write(world: World, person: Person): Promise<void> {
  const { choices } = person;
  const atOnce = choices.chance(0.25) ? choices.between(2, 5) : 1;
  await Promise.all(Array.from({ length: atOnce }, () => post(world, person)));
}

async function post(world: World, person: Person): Promise<void> {
  const { choices, phone } = person;
  const id = person.nextId('use');
  const body = { phone, count: choices.between(1, 3) };
  const send = (hangUpMs?: number) => world.site.bot('bot usage', '/api/bot/usage', id, body, hangUpMs);
  const again = choices.chance(0.1);
  if (choices.chance(0.1)) await send(choices.between(2, 40));
  const answer = await untilTaken(world, person, send);
  if (answer.status !== 200) {
    world.seen.push(`usage post ${id} was refused: ${answer.code}`);
    return;
  }
  const { allowed, used, resetsAt } = answer.body;
  person.posts.push({ id, count: body.count, allowed, used, resetsAt });
  if (again) compare(world, id, answer, await send());
}

function compare({ seen }: World, id: string, first: Answer, second: Answer): void {
  if (isNotNow(second) || JSON.stringify(first.body) === JSON.stringify(second.body)) return;
  seen.push(`usage post ${id} was answered ${JSON.stringify(first.body)}, then ${JSON.stringify(second.body)}`);
}
