import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import { isEnded } from '../objects/subscriptions.ts';
import { phaseOf } from './read-phases.ts';
import type { Schedule } from '../types/schedules.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

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
