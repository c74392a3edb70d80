import { setTimeout as sleep } from 'node:timers/promises';
import { services, type Service } from '../sandbox/fault-response.ts';
import type { Choices } from './choices.ts';
import { timeRecovery } from './recovery.ts';
import type { Fault, World } from './world.ts';

const manners = ['refuses', 'hangs up', 'loses its responses', 'is slow', 'is silent'] as const;
type Manner = (typeof manners)[number];

/** A delay longer than the Worker's timeout, so that the work is done after the Worker has given up. */
const faultOf: Record<Manner, (choices: Choices) => Fault> = {
  refuses: (choices) => ({ status: choices.pick([500, 503, 429]) }),
  'hangs up': () => ({ drop: true }),
  'loses its responses': () => ({ cut: true }),
  'is slow': (choices) => ({ delayMs: choices.between(200, 1500) }),
  'is silent': () => ({ delayMs: 9500 }),
};

type Break = { service: Service; manner: Manner };

/** Repeats until the end: breaks one or two services, repairs them, pauses. */
export async function breakServices(world: World, choices: Choices): Promise<void> {
  const { closing, figures, latencies, timeline } = world;
  const next = dealer(choices);
  await sleep(4000);
  while (!closing.aborted) {
    const dealt = choices.chance(0.2) ? [next(), next()] : [next()];
    const breaks = dealt.filter(({ service }) => service !== 'bot' || !world.botOutage);
    for (const { service, manner } of breaks) {
      figures.injected(`${service} ${manner}`);
      timeline.note(`${service} ${manner}`);
    }
    latencies.disturb();
    await setFaults(world, faultsOf(breaks, choices));
    await sleep(choices.between(300, 3000));
    await mend(world);
    latencies.calm();
    for (const { service } of breaks) void timeRecovery(world, service);
    await sleep(choices.between(400, 2200));
  }
}

/** Every service works again, except a bot that is down. */
export async function mend(world: World): Promise<void> {
  await setFaults(world, {});
  world.timeline.note('every service works');
}

/** Replaces all faults. */
async function setFaults({ rig, botOutage }: World, faults: Partial<Record<Service, Fault>>): Promise<void> {
  const none = Object.fromEntries(services.map((service) => [service, null]));
  await rig.control('PUT', '/faults', { ...none, ...faults, ...(botOutage && { bot: botOutage }) });
}

/** Returns every fault of every service in random order before it repeats one. */
function dealer(choices: Choices): () => Break {
  let deck: Break[] = [];
  return () => {
    if (deck.length === 0) deck = services.flatMap((service) => manners.map((manner) => ({ service, manner })));
    return deck.splice(choices.between(0, deck.length - 1), 1)[0]!;
  };
}

function faultsOf(breaks: Break[], choices: Choices): Partial<Record<Service, Fault>> {
  return Object.fromEntries(breaks.map(({ service, manner }) => [service, faultOf[manner](choices)]));
}
