import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { pageRoutes } from '#contract/routes';
import { signedIn } from '../invariants/accounts.ts';
import { type Choices, Person } from '../person.ts';
import { untilClosing, type World } from '../rig.ts';
import { type Call, Site } from '../site.ts';
import { reportContact, signIn } from './journey.ts';

type Attack = {
  world: World;
  site: Site;
  choices: Choices;
  attacker: Person;
  ended: AbortSignal;
};

/** Alternates attacks and pauses of some seconds until the end, so that the two can be compared. */
export async function keepAttacking(world: World, choices: Choices): Promise<void> {
  const { closing, figures, rig } = world;
  // Outside the range of users.
  const attacker = new Person(900_000, 'visitor', choices.fork());
  await reportContact(world, attacker);
  await signIn(world, attacker);
  const site = new Site(rig.product.siteUrl, rig.botSecret, figures.attackers);
  while (!closing.aborted) {
    await untilClosing(world, choices.between(4000, 7000));
    if (closing.aborted) return;
    const ended = AbortSignal.any([closing, AbortSignal.timeout(choices.between(4000, 7000))]);
    figures.latencies.attack(true);
    await Promise.all(
      attacks.map((each) =>
        each({
          world,
          site,
          choices,
          attacker,
          ended,
        }),
      ),
    );
    figures.latencies.attack(false);
  }
}

async function readSlowly({ attacker, ended, site }: Attack): Promise<void> {
  const url = `${site.url}${pageRoutes.usageStream.path}?token=${encodeURIComponent(attacker.token!)}`;
  // Nothing depends on these connections: the Worker may be restarting.
  const streams = Array.from({ length: 12 }, () =>
    fetch(url, { signal: ended }).catch(() => undefined),
  );
  if (!ended.aborted) await once(ended, 'abort');
  await Promise.all(streams);
}

/** Disconnects after half of a request, or before the response. */
async function hangUp(attack: Attack): Promise<void> {
  const { attacker, choices, site } = attack;
  const half = () =>
    new ReadableStream({ start: (body) => body.enqueue(Buffer.from('{"phone":')) });
  await repeat(attack, 150, async () => {
    const ms = choices.between(1, 60);
    const init = {
      method: 'POST',
      body: half(),
      duplex: 'half',
      signal: AbortSignal.timeout(ms),
    };
    if (choices.chance(0.5))
      await site.call('streamTicket', {
        token: attacker.token,
        body: {},
        hangUpMs: ms,
      });
    else await fetch(site.url + pageRoutes.requestOtp.path, init).catch(() => undefined);
  });
}

async function repeat(
  { ended }: Attack,
  pauseMs: number,
  act: () => Promise<unknown>,
): Promise<void> {
  while (!ended.aborted) {
    await act();
    await sleep(pauseMs);
  }
}

/** Calls for one victim during a whole attack, so that every limit of the number is reached. */
async function repeatForVictim(
  attack: Attack,
  pauseMs: number,
  name: Call,
  more: () => object,
): Promise<void> {
  const { world, choices, site } = attack;
  const people = signedIn(world);
  if (people.length === 0) return;
  const { phone } = choices.pick(people);
  await repeat(attack, pauseMs, async () => {
    const address = `198.18.${choices.between(0, 255)}.${choices.between(0, 255)}`;
    const answer = await site.call(name, {
      body: { phone, ...more() },
      address,
    });
    if (answer.body.token) world.seen.push(`an attacker guessed the code of ${phone}`);
  });
}

const requestCodes = (attack: Attack) => repeatForVictim(attack, 200, 'requestOtp', () => ({}));

const guessCodes = (attack: Attack) =>
  repeatForVictim(attack, 100, 'verifyOtp', () => {
    return { otp: String(attack.choices.between(0, 999_999)).padStart(6, '0') };
  });

async function floodBilling(attack: Attack): Promise<void> {
  const { attacker, choices, site } = attack;
  await repeat(attack, 250, () => {
    const name = choices.pick(['createSubscriptionUpdateSession', 'createPortalSession'] as const);
    return Promise.all(
      Array.from({ length: 5 }, () =>
        site.call(name, {
          token: attacker.token,
          body: {},
        }),
      ),
    );
  });
}

const attacks = [requestCodes, guessCodes, floodBilling, readSlowly, hangUp];
