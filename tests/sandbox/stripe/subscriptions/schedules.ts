import type { Stripe } from 'stripe';
import { type Call, idOf, type World, requireCustomer, mergeMetadata, newMetadata } from '../world.ts';
import { inRange, pageOf, newId } from '../table.ts';
import { endSubscription, isEnded, periodEnd, periodStart } from './subscriptions.ts';
import { invalid } from '../api/errors.ts';
import type { Schedule, Subscription, Phase, PhaseItem, SubscriptionItem } from '../objects.ts';
import { addInterval } from '../clock.ts';
import { recurringPrice, planOf } from '../catalogue.ts';
import { newSubscriptionItem } from './new-subscription.ts';
import { changeItems } from './update-subscription.ts';
import { endTrial } from './periods.ts';

export function scheduleDueAt({ status, current_phase: phase }: Schedule): number | null {
  return status === 'active' && phase ? phase.end_date : null;
}

/** Creates a schedule from a subscription as it is; an update adds phases. */
export function createSchedule(world: World, { params }: Call<Stripe.SubscriptionScheduleCreateParams>): Schedule {
  const { from_subscription: from, expand: _, ...others } = params;
  if (!from)
    throw invalid(
      'The local Stripe keeps schedules of existing subscriptions only: pass `from_subscription`.',
      'from_subscription',
    );
  const [other] = Object.keys(others);
  if (other) throw invalid(`You cannot set \`${other}\` if \`from_subscription\` is set.`, other);
  return scheduleSubscription(world, world.subscriptions.get(from, 'from_subscription'));
}

export function updateSchedule(world: World, call: Call<Stripe.SubscriptionScheduleUpdateParams>): Schedule {
  const { params } = call;
  const schedule = running(world, idOf(call), 'update');
  const phases = params.phases ? readPhases(world, schedule, params.phases) : schedule.phases;
  const updated = world.schedules.change(schedule.id, (schedule) => {
    schedule.phases = phases;
    schedule.current_phase = currentPhase(phases, world.now());
    schedule.end_behavior = params.end_behavior ?? schedule.end_behavior;
    schedule.metadata = mergeMetadata(schedule.metadata, params.metadata);
  });
  applyCurrentPhase(world, updated, params.proration_behavior);
  return world.schedules.get(schedule.id);
}

/** Ends the schedule and keeps the subscription as it is; later phases do not take place. */
export function releaseSchedule(world: World, call: Call<Stripe.SubscriptionScheduleReleaseParams>): Schedule {
  return release(world, running(world, idOf(call), 'release'), call.params.preserve_cancel_date);
}

/** Ends the schedule and its subscription at once. */
export function cancelSchedule(world: World, call: Call<Stripe.SubscriptionScheduleCancelParams>): Schedule {
  const { invoice_now: invoiceNow = true, prorate = true } = call.params;
  const schedule = running(world, idOf(call), 'cancel');
  if (schedule.subscription) endSubscription(world, schedule.subscription, { invoiceNow, prorate });
  return world.schedules.get(schedule.id);
}

function running(world: World, id: string, verb: string): Schedule {
  const schedule = world.schedules.get(id);
  if (schedule.status === 'active') return schedule;
  throw invalid(
    `You cannot ${verb} a subscription schedule that is currently in the \`${schedule.status}\` status. It must be in one of these statuses: not_started, active.`,
  );
}

export function listSchedules(world: World, { params }: Call<Stripe.SubscriptionScheduleListParams>) {
  requireCustomer(world, params.customer);
  const found = world.schedules
    .all()
    .filter((schedule) => params.customer === undefined || schedule.customer === params.customer)
    .filter((schedule) => inRange(schedule.created, params.created))
    .filter(() => !params.scheduled);
  return pageOf(found, params, '/v1/subscription_schedules', world.schedules);
}

const untouched = { application: null, customer_account: null, livemode: false, pause_schedules: [], test_clock: null };
const defaultSettings = {
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor: 'automatic',
  billing_thresholds: null,
  collection_method: 'charge_automatically',
  description: null,
  invoice_settings: {
    account_tax_ids: null,
    custom_fields: null,
    days_until_due: null,
    description: null,
    footer: null,
    issuer: { type: 'self' },
  },
  on_behalf_of: null,
  transfer_data: null,
};

export function scheduleSubscription(world: World, subscription: Subscription): Schedule {
  if (isEnded(subscription))
    throw invalid(
      'You cannot create a subscription schedule from a subscription that is canceled.',
      'from_subscription',
    );
  if (subscription.schedule) {
    throw invalid(
      `You cannot migrate a subscription that is already attached to a schedule: ${subscription.schedule}`,
      'from_subscription',
    );
  }
  const phase = phaseOf(subscription);
  const schedule = world.schedules.insert({
    ...untouched,
    billing_mode: subscription.billing_mode,
    default_settings: { ...defaultSettings, default_payment_method: subscription.default_payment_method },
    id: newId('sub_sched_1'),
    object: 'subscription_schedule',
    canceled_at: null,
    completed_at: null,
    created: world.now(),
    current_phase: { start_date: phase.start_date, end_date: phase.end_date },
    customer: subscription.customer,
    end_behavior: subscription.cancel_at === null ? 'release' : 'cancel',
    metadata: {},
    phases: [phase],
    released_at: null,
    released_subscription: null,
    status: 'active',
    subscription: subscription.id,
  });
  world.subscriptions.change(subscription.id, (subscription) => void (subscription.schedule = schedule.id));
  return schedule;
}

export function release(world: World, { id, subscription }: Schedule, keepCancelDate = false): Schedule {
  if (subscription) {
    world.subscriptions.change(subscription, (subscription) => {
      subscription.schedule = null;
      if (!keepCancelDate) Object.assign(subscription, { cancel_at: null, canceled_at: null });
    });
  }
  const released = { status: 'released', released_at: world.now(), released_subscription: subscription };
  return world.schedules.change(
    id,
    (schedule) => void Object.assign(schedule, released, { subscription: null, current_phase: null }),
    'subscription_schedule.released',
  );
}

type Param = Stripe.SubscriptionScheduleUpdateParams.Phase;

const untouchedPhase = {
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
    ...untouchedPhase,
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
function readPhases(world: World, schedule: Schedule, given: Param[]): Phase[] {
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
    ...untouchedPhase,
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
function currentPhase(phases: Phase[], now: number): Schedule['current_phase'] {
  const phase = phases.find(({ start_date, end_date }) => start_date <= now && now < end_date);
  return phase ? { start_date: phase.start_date, end_date: phase.end_date } : null;
}

/** Applies the current phase to the subscription, after the schedule was edited. */
function applyCurrentPhase(world: World, schedule: Schedule, proration?: string): void {
  const phase = schedule.phases.find(({ start_date }) => start_date === schedule.current_phase?.start_date);
  if (!phase) return nextPhase(world, schedule.id);
  if (!schedule.subscription) return;
  applyPhase(world, schedule.subscription, phase, proration ?? 'create_prorations');
  keepTrial(world, schedule.subscription, phase);
  const end = schedule.end_behavior === 'cancel' ? (schedule.phases.at(-1)?.end_date ?? null) : null;
  world.subscriptions.change(schedule.subscription, (subscription) => void (subscription.cancel_at = end));
}

/** A phase describes the whole subscription: one without the running trial ends the trial. */
function keepTrial(world: World, id: string, phase: Phase): void {
  const { status, trial_end: end } = world.subscriptions.get(id);
  if (status !== 'trialing' || phase.trial_end === end) return;
  if (phase.trial_end === null) return endTrial(world, id, world.now());
  world.subscriptions.change(id, (subscription) => {
    Object.assign(subscription, { trial_end: phase.trial_end, billing_cycle_anchor: phase.trial_end });
    for (const item of subscription.items.data) item.current_period_end = phase.trial_end ?? item.current_period_end;
  });
}

/** Ends the current phase: the next one begins, or the schedule is completed. */
export function nextPhase(world: World, id: string): void {
  const schedule = world.schedules.get(id);
  const start = schedule.current_phase?.end_date ?? world.now();
  const phase = schedule.phases.find(({ start_date, end_date }) => start_date <= start && start < end_date);
  if (!phase) return finish(world, schedule);
  const current = { start_date: phase.start_date, end_date: phase.end_date };
  world.schedules.change(id, (schedule) => void (schedule.current_phase = current));
  if (schedule.subscription) applyPhase(world, schedule.subscription, phase, phase.proration_behavior);
}

function finish(world: World, schedule: Schedule): void {
  if (schedule.end_behavior !== 'cancel') return void release(world, schedule, true);
  const done = { status: 'completed', completed_at: world.now(), current_phase: null };
  world.schedules.change(
    schedule.id,
    (schedule) => void Object.assign(schedule, done),
    'subscription_schedule.completed',
  );
  const { subscription } = schedule;
  if (!subscription) return;
  world.subscriptions.change(subscription, (subscription) => void (subscription.schedule = null), null);
  endSubscription(world, subscription);
}

function applyPhase(world: World, id: string, phase: Phase, proration: string): void {
  const subscription = world.subscriptions.get(id);
  // If the period ends with the phase, the renewal charges the new price.
  if (periodEnd(subscription) <= world.now()) return swapPrices(world, subscription, phase);
  const items = subscription.items.data;
  const wanted = phase.items.map(({ price, quantity }, index) => ({
    ...(items[index] && { id: items[index].id }),
    price,
    quantity,
  }));
  const extra = items.slice(phase.items.length).map(({ id }) => ({ id, deleted: true }));
  changeItems(world, id, [...wanted, ...extra], { proration });
}

function swapPrices(world: World, subscription: Subscription, phase: Phase): void {
  const current = subscription.items.data;
  const items = phase.items.map(({ price: id, quantity }, index): SubscriptionItem => {
    const price = world.prices.get(id);
    const period = {
      start: subscription.items.data[0]?.current_period_start ?? world.now(),
      end: periodEnd(subscription),
    };
    const item =
      current[index] ?? newSubscriptionItem({ subscription: subscription.id, price, period, created: world.now() });
    return { ...item, price, plan: planOf(price), quantity };
  });
  world.subscriptions.change(subscription.id, (subscription) => void (subscription.items.data = items));
}
