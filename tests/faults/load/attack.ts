import { type Choices, Person } from '../person.ts';
import { Site } from '../site.ts';
import { untilClosing, type World } from '../rig.ts';
import { reportContact, signIn } from './acts.ts';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { signedIn } from '../invariants/accounts.ts';

/** The first number of attackers, outside the range of users. */
const firstNumber = 900_000;

const attacks = [requestCodes, guessCodes, floodBilling, readSlowly, hangUp];

/** Alternates attacks and pauses of some seconds until the end, so that the two can be compared. */
export async function keepAttacking(world: World, choices: Choices): Promise<void> {
  const { closing, figures, latencies, rig } = world;
  const attacker = new Person(firstNumber, 'visitor', choices.fork());
  await signUp(world, attacker);
  const site = new Site(rig.product.siteUrl, rig.botSecret, figures.attackers);
  while (!closing.aborted) {
    await untilClosing(world, choices.between(4000, 7000));
    if (closing.aborted) return;
    const ended = AbortSignal.any([closing, AbortSignal.timeout(choices.between(4000, 7000))]);
    const attack = { world, site, choices, attacker, ended };
    latencies.attack(true);
    await Promise.all(attacks.map((each) => each(attack)));
    latencies.attack(false);
  }
}

/** Creates the attacker's own account. */
async function signUp(world: World, attacker: Person): Promise<void> {
  await reportContact(world, attacker);
  await signIn(world, attacker);
}

const slowReaders = 12;

/** Opens usage streams without reading them. */
async function readSlowly(attack: Attack): Promise<void> {
  const { attacker, ended, site } = attack;
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
    const half = head('/api/auth/request-otp', 200) + '{"phone":';
    const whole = `${head('/api/user/stream-ticket', 2)}{}`;
    socket.write(choices.chance(0.5) ? half : whole);
    await new Promise((resolve) => setTimeout(resolve, choices.between(1, 60)));
    socket.destroy();
  });
}

function open(url: string): Socket {
  const { port } = new URL(url);
  // The Worker may be restarting: nothing depends on these connections.
  return connect(Number(port), '127.0.0.1').on('error', () => undefined);
}

/** What an attack acts with, until `ended` is aborted. */
type Attack = { world: World; site: Site; choices: Choices; attacker: Person; ended: AbortSignal };

/** Repeats an action until the attack ends, with a pause of so many ms after each. */
async function repeat({ ended }: Attack, pauseMs: number, act: () => Promise<unknown>): Promise<void> {
  while (!ended.aborted) {
    await act();
    await sleep(pauseMs);
  }
}

/** One victim at a time for a whole attack, so that every limit of the number is reached. */
function victimOf({ world, choices }: Attack): string | undefined {
  const people = signedIn(world);
  return people.length > 0 ? choices.pick(people).phone : undefined;
}

const addressOf = ({ choices }: Attack): string => `198.18.${choices.between(0, 255)}.${choices.between(0, 255)}`;

/** Requests one-time codes for somebody else's number. */
async function requestCodes(attack: Attack): Promise<void> {
  const phone = victimOf(attack);
  if (!phone) return;
  await repeat(attack, 200, () =>
    attack.site.call('request code', 'POST', '/api/auth/request-otp', {
      body: { phone },
      address: addressOf(attack),
    }),
  );
}

/** Guesses the code of somebody else's number. */
async function guessCodes(attack: Attack): Promise<void> {
  const phone = victimOf(attack);
  if (!phone) return;
  await repeat(attack, 100, async () => {
    const otp = String(attack.choices.between(0, 999_999)).padStart(6, '0');
    const body = { phone, otp };
    const answer = await attack.site.call('verify code', 'POST', '/api/auth/verify-otp', {
      body,
      address: addressOf(attack),
    });
    if (answer.status === 200) attack.world.seen.push(`an attacker guessed the code of ${phone}`);
  });
}

const paths = ['/api/billing/create-portal-session', '/api/billing/create-subscription-update-session'];
const atOnce = 5;

/** Requests billing pages concurrently from one account. */
async function floodBilling(attack: Attack): Promise<void> {
  const { attacker, choices, site } = attack;
  await repeat(attack, 250, () => {
    const path = choices.pick(paths);
    const options = { token: attacker.token, body: {} };
    return Promise.all(Array.from({ length: atOnce }, () => site.call('billing page', 'POST', path, options)));
  });
}
