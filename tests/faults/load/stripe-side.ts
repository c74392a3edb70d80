import { setTimeout as sleep } from 'node:timers/promises';
import type { Choices } from '../choices.ts';
import type { World } from '../world.ts';

const week = 7 * 86_400;

type Event = 'late' | 'again' | 'card fails' | 'card works';

/** Stripe's behaviour until the end: late, repeated and reordered events, and failing cards. */
export async function disturbStripe({ rig, people, closing, seen }: World, choices: Choices): Promise<void> {
  const buyers = () => people.filter(({ checkouts, left }) => checkouts > 0 && !left);
  const somebody = () => choices.pick(buyers());
  const path = (who: ReturnType<typeof somebody>) => `/stripe/customers/${encodeURIComponent(who.phone)}/card`;
  const events: Record<Event, () => Promise<unknown>> = {
    async late() {
      await rig.control('PUT', '/stripe/webhooks', { mode: 'hold' });
      await sleep(choices.between(500, 4000));
      await rig.control('PUT', '/stripe/webhooks', { mode: 'deliver' });
    },
    again: () => {
      const order = choices.pick(['original', 'reversed']);
      return rig.control('POST', '/stripe/webhooks/redeliver', { order, phone: somebody().phone });
    },
    'card fails': () => rig.control('POST', path(somebody()), { declines: true }),
    'card works': () => rig.control('POST', path(somebody()), { declines: false }),
  };
  while (!closing.aborted) {
    await sleep(choices.between(1000, 3000));
    const event = choices.weighted<Event>({ late: 3, again: 4, 'card fails': 1, 'card works': 1 });
    if (buyers().length > 0)
      await events[event]().catch((error: unknown) => seen.push(`Stripe, ${event}: ${String(error)}`));
  }
}

/** Advances Stripe's clock by a week: plans renew, trials end, cards are charged. */
export async function passWeek({ rig, seen }: World): Promise<void> {
  await rig
    .control('POST', '/stripe/clock', { advanceSeconds: week })
    .catch((error: unknown) => seen.push(`Stripe's week: ${String(error)}`));
}
