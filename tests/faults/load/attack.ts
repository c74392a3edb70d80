import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { signedIn } from '../invariants/accounts.ts';
import { type Choices, Person } from '../person.ts';
import { untilClosing, type World } from '../rig.ts';
import { Site } from '../site.ts';
import { planPage, reportContact, signIn } from './acts.ts';

/** The number of the attacker, outside the range of users. */
const number = 900_000;

const attacks = [requestCodes, guessCodes, floodBilling, readSlowly, hangUp];

/** What an attack acts with, until `ended` is aborted. */
type Attack = { world: World; site: Site; choices: Choices; attacker: Person; ended: AbortSignal };

/** Alternates attacks and pauses of some seconds until the end, so that the two can be compared. */
export async function keepAttacking(world: World, choices: Choices): Promise<void> {
  const { closing, figures, rig } = world;
  const attacker = new Person(number, 'visitor', choices.fork());
  await reportContact(world, attacker);
  await signIn(world, attacker);
  const site = new Site(rig.product.siteUrl, rig.botSecret, figures.attackers);
  while (!closing.aborted) {
    await untilClosing(world, choices.between(4000, 7000));
    if (closing.aborted) return;
    const ended = AbortSignal.any([closing, AbortSignal.timeout(choices.between(4000, 7000))]);
    figures.latencies.attack(true);
    await Promise.all(attacks.map((each) => each({ world, site, choices, attacker, ended })));
    figures.latencies.attack(false);
  }
}

const slowReaders = 12;

/** Opens usage streams without reading them. */
async function readSlowly({ attacker, ended, site }: Attack): Promise<void> {
  const path = `/api/user/usage-stream?token=${encodeURIComponent(attacker.token!)}`;
  const sockets = Array.from({ length: slowReaders }, () => open(site.url));
  for (const socket of sockets) {
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${new URL(site.url).host}\r\n\r\n`);
  }
  if (!ended.aborted) await once(ended, 'abort');
  for (const socket of sockets) socket.destroy();
}

/** Disconnects after half of a request, or before the response. */
async function hangUp(attack: Attack): Promise<void> {
  const { attacker, choices, site } = attack;
  const head = (path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nhost: ${new URL(site.url).host}\r\nauthorization: Bearer ${attacker.token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  await repeat(attack, 150, async () => {
    const socket = open(site.url);
    const half = `${head('/api/auth/request-otp', 200)}{"phone":`;
    const whole = `${head('/api/user/stream-ticket', 2)}{}`;
    socket.write(choices.chance(0.5) ? half : whole);
    await sleep(choices.between(1, 60));
    socket.destroy();
  });
}

function open(url: string): Socket {
  // The Worker may be restarting: nothing depends on these connections.
  return connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
}

/** Repeats an action until the attack ends, with a pause of so many ms after each. */
async function repeat({ ended }: Attack, pauseMs: number, act: () => Promise<unknown>): Promise<void> {
  while (!ended.aborted) {
    await act();
    await sleep(pauseMs);
  }
}

/** Calls for one victim during a whole attack, so that every limit of the number is reached. */
async function repeatForVictim(attack: Attack, pauseMs: number, path: string, more: () => object): Promise<void> {
  const { world, choices, site } = attack;
  const people = signedIn(world);
  if (people.length === 0) return;
  const { phone } = choices.pick(people);
  await repeat(attack, pauseMs, async () => {
    const address = `198.18.${choices.between(0, 255)}.${choices.between(0, 255)}`;
    const answer = await site.call(path, 'POST', path, { body: { phone, ...more() }, address });
    if (answer.body.token) world.seen.push(`an attacker guessed the code of ${phone}`);
  });
}

/** Requests one-time codes for somebody else's number. */
async function requestCodes(attack: Attack): Promise<void> {
  await repeatForVictim(attack, 200, '/api/auth/request-otp', () => ({}));
}

/** Guesses the code of somebody else's number. */
async function guessCodes(attack: Attack): Promise<void> {
  const otp = () => String(attack.choices.between(0, 999_999)).padStart(6, '0');
  await repeatForVictim(attack, 100, '/api/auth/verify-otp', () => ({ otp: otp() }));
}

const billingPages = [planPage, '/api/billing/create-portal-session'];
const atOnce = 5;

/** Requests billing pages concurrently from one account. */
async function floodBilling(attack: Attack): Promise<void> {
  const { attacker, choices, site } = attack;
  await repeat(attack, 250, () => {
    const path = choices.pick(billingPages);
    const options = { token: attacker.token, body: {} };
    return Promise.all(Array.from({ length: atOnce }, () => site.call('billing page', 'POST', path, options)));
  });
}
