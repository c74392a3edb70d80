import type { Stripe } from 'stripe';
import { invalid } from '../errors.ts';
import { addInterval } from '../interval.ts';
import { newMetadata } from '../objects/metadata.ts';
import { recurringPrice } from '../objects/recurring-price.ts';
import { periodEnd, periodStart } from '../objects/subscriptions.ts';
import type { Phase, PhaseItem, Schedule } from '../types/schedules.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

type Param = Stripe.SubscriptionScheduleUpdateParams.Phase;

const untouched = {
  add_invoice_items: [],
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor: null,
  billing_thresholds: null,
  collection_method: null,
  default_payment_method: null,
  default_tax_rates: [],
  discounts: [],
  invoice_settings: null,
  on_behalf_of: null,
  transfer_data: null,
};

function itemOf(price: string, quantity: number, metadata: PhaseItem['metadata']): PhaseItem {
  return { billing_thresholds: null, discounts: [], tax_rates: [], price, plan: price, quantity, metadata };
}

/** The phase that describes a subscription without a schedule. */
export function phaseOf(subscription: Subscription): Phase {
  return {
    ...untouched,
    currency: subscription.currency,
    description: null,
    start_date: periodStart(subscription),
    end_date: subscription.cancel_at ?? periodEnd(subscription),
    items: subscription.items.data.map(({ price, quantity, metadata }) => itemOf(price.id, quantity, metadata)),
    metadata: {},
    proration_behavior: 'create_prorations',
    trial_end: subscription.status === 'trialing' ? subscription.trial_end : null,
  };
}

/** Decodes the phases of an update. The current phase must keep its start. */
export function readPhases(world: World, schedule: Schedule, given: Param[]): Phase[] {
  const running = schedule.current_phase?.start_date;
  const [first] = given;
  if (!first) throw invalid('You must pass at least one phase.', 'phases');
  if (first.start_date === undefined)
    throw invalid('You must pass in `start_date` for the first phase.', 'phases[0][start_date]');
  if (first.start_date !== running && first.start_date !== 'now') {
    throw invalid('You can not modify the start date of the current phase.', 'phases[0][start_date]');
  }
  const phases: Phase[] = [];
  for (const [index, param] of given.entries()) {
    const start = phases.at(-1)?.end_date ?? running ?? world.now();
    phases.push(readPhase(world, param, start, `phases[${index}]`));
  }
  return phases;
}

function readPhase(world: World, param: Param, start: number, path: string): Phase {
  const items = param.items.map(({ price, quantity = 1, metadata }, index) => {
    const { id } = recurringPrice(world, price ?? '', `${path}[items][${index}][price]`);
    return itemOf(id, quantity, newMetadata(metadata));
  });
  const end = endOf(world, param, start, path);
  if (end <= start) throw invalid('The end of a phase must be after its start.', `${path}[end_date]`);
  if (typeof param.start_date === 'number' && param.start_date !== start) {
    throw invalid('A phase must start where the one before it ends.', `${path}[start_date]`);
  }
  return {
    ...untouched,
    currency: world.prices.get(items[0]?.price ?? '').currency,
    description: param.description || null,
    start_date: start,
    end_date: end,
    items,
    metadata: newMetadata(param.metadata),
    proration_behavior: param.proration_behavior ?? 'create_prorations',
    trial_end: trialEndOf(param, end),
  };
}

function trialEndOf({ trial, trial_end: trialEnd }: Param, end: number): number | null {
  if (trial) return end;
  return trialEnd === 'now' ? null : (trialEnd ?? null);
}

function endOf(world: World, { end_date: end, duration, items }: Param, start: number, path: string): number {
  if (end !== undefined && duration !== undefined)
    throw invalid('You cannot set both `end_date` and `duration`.', `${path}[duration]`);
  if (end === 'now') return world.now();
  if (end !== undefined) return end;
  const { interval = 'week', interval_count: count = 1 } = world.prices.find(items[0]?.price ?? '')?.recurring ?? {};
  return addInterval(start, duration?.interval ?? interval, duration ? (duration.interval_count ?? 1) : count);
}

/** The current phase. */
export function currentPhase(phases: Phase[], now: number): Schedule['current_phase'] {
  const phase = phases.find(({ start_date, end_date }) => start_date <= now && now < end_date);
  return phase ? { start_date: phase.start_date, end_date: phase.end_date } : null;
}
