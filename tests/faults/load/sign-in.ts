import type { Person } from '../person.ts';
import type { Answer } from '../site.ts';
import { isNotNow, pause, untilTaken, type World } from '../world.ts';

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
