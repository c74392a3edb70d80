import type { Choices } from '../choices.ts';
import { Person } from '../person.ts';
import { Site } from '../site.ts';
import { untilClosing, type World } from '../world.ts';
import { reportContact, signIn } from '../load/sign-in.ts';
import { guessCodes, requestCodes } from './against-numbers.ts';
import { floodBilling } from './flood-billing.ts';
import { hangUp, readSlowly } from './connections.ts';

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
