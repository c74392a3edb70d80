import type { Person } from '../person.ts';
import type { World } from '../rig.ts';
import { accountsIn, signedIn, type Account, checkCases, type Finding } from './accounts.ts';
import { planOf } from '../../../worker/contract/plans.ts';

/** Every plan in the database and the profile matches Stripe. */
export async function plansAgree(world: World): Promise<Finding> {
  const accounts = await accountsIn(world.rig.database);
  return checkCases('plans in database and profile equal to Stripe', signedIn(world), async (person) => {
    const holdings = await holdingsOf(world, person);
    const account = accounts.get(person.phone)!;
    const standings = [holdings ? standingAt(holdings, world.rig.tiers) : free, kept(account)];
    // During our own trial the profile shows the trial instead.
    if (account.trial_tier === null) standings.push(await told(world, person));
    const texts = standings.map((standing) => JSON.stringify(standing));
    return new Set(texts).size === 1 ? null : `${person.phone}: Stripe, database, profile: ${texts.join(' ')}`;
  });
}

/** A user who has paid or saved a card has a subscription, and never two at once. */
export async function checkoutsHold(world: World): Promise<Finding> {
  const buyers = world.people.filter(({ checkouts, left }) => checkouts > 0 && !left);
  return checkCases('completed checkouts led to one plan, never two at once', buyers, async (person) => {
    const holdings = await holdingsOf(world, person);
    if (!holdings || holdings.subscriptions.length === 0) return `${person.phone} has no subscription`;
    const live = liveIn(holdings);
    return live.length > 1 ? `${person.phone} pays ${live.length} times` : null;
  });
}

/** A user's objects at the local Stripe; null without a customer. */
export async function holdingsOf({ rig }: World, { phone }: Person): Promise<Holdings | null> {
  return rig.control<Holdings>('GET', `/stripe/customers/${encodeURIComponent(phone)}`).catch(() => null);
}

const kept = (account: Account): SubscriptionState => ({
  tier: account.tier,
  status: account.subscription_status,
  renewalAt: account.renewal_at,
  cancelAt: account.cancel_at,
  scheduledTier: account.scheduled_tier,
});

async function told({ site }: World, { token }: Person): Promise<SubscriptionState> {
  const { body } = await site.call('profile', 'GET', '/api/user/me', { token });
  const { metadata } = body.profile ?? { metadata: {} };
  const instant = (date: string | null) => (date ? Date.parse(date) : null);
  return {
    tier: metadata.subscriptionTier,
    status: metadata.subscriptionStatus,
    renewalAt: instant(metadata.renewalDate),
    cancelAt: instant(metadata.cancelAtDate),
    scheduledTier: metadata.scheduledDowngradeTierId,
  };
}

type Item = { current_period_end: number; price: { id: string } };
type Subscription = {
  id: string;
  status: string;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  trial_end: number | null;
  schedule: string | null;
  items: { data: Item[] };
};
type Phase = { start_date: number; end_date: number; items: { price: string }[] };
type Schedule = {
  id: string;
  status: string;
  current_phase: { start_date: number; end_date: number } | null;
  phases: Phase[];
};

type LineDetails = {
  subscription: string;
  proration: boolean;
  proration_details: { credited_items: { invoice: string } | null };
};
export type Line = {
  amount: number;
  period: { start: number; end: number };
  parent: { subscription_item_details: LineDetails | null };
  pricing: { price_details: { price: string } };
};
export type Invoice = {
  id: string;
  status: string;
  amount_paid: number;
  auto_advance: boolean;
  billing_reason: string;
  created: number;
  lines: { data: Line[] };
  parent: { subscription_details: { subscription: string } };
};

/** One customer's objects at the local Stripe. */
export type Holdings = {
  customer: { id: string; deleted?: true };
  subscriptions: Subscription[];
  schedules: Schedule[];
  invoices: Invoice[];
};

/** The expected state of the user; instants in unix ms. */
type SubscriptionState = {
  tier: string;
  status: string;
  renewalAt: number | null;
  cancelAt: number | null;
  scheduledTier: string | null;
};

export const free: SubscriptionState = {
  tier: 'free',
  status: 'active',
  renewalAt: null,
  cancelAt: null,
  scheduledTier: null,
};

export const liveIn = ({ subscriptions }: Holdings): Subscription[] =>
  subscriptions.filter(({ status }) => ['active', 'trialing', 'past_due'].includes(status));

/** Derived from Stripe's objects alone, without the product's rules. */
export function standingAt(holdings: Holdings, tiers: Map<string, string>): SubscriptionState {
  const [subscription] = liveIn(holdings);
  if (!subscription && holdings.subscriptions.some(({ status }) => status === 'unpaid')) return unpaidState(holdings);
  const item = subscription?.items.data[0];
  if (!subscription || !item) return free;
  const sold = tiers.get(item.price.id) ?? 'free';
  const due = subscription.status === 'past_due' || owesCredit(holdings, subscription.id);
  const tier = due ? lower(sold, paidTier(holdings, subscription.id, tiers)) : sold;
  const end = subscription.status === 'trialing' ? subscription.trial_end! : item.current_period_end;
  const cancelAt = subscription.cancel_at ?? (subscription.cancel_at_period_end ? end : null);
  const next = cancelAt === null ? nextTier(subscription, holdings, tiers) : null;
  const isReported =
    next !== null && next !== sold && (subscription.status === 'trialing' || level(next) < level(sold));
  const scheduledTier = isReported ? next : null;
  return {
    tier,
    status: due ? 'past_due' : statusOf(subscription, cancelAt, scheduledTier),
    renewalAt: end * 1000,
    cancelAt: cancelAt && cancelAt * 1000,
    scheduledTier,
  };
}

function statusOf({ status }: Subscription, cancelAt: number | null, scheduledTier: string | null): string {
  if (cancelAt !== null) return 'cancellation_scheduled';
  if (status === 'trialing') return status;
  return scheduledTier ? 'downgrade_scheduled' : 'active';
}

function nextTier({ schedule }: Subscription, { schedules }: Holdings, tiers: Map<string, string>): string | null {
  const plan = schedules.find(({ id, status }) => id === schedule && status === 'active');
  const phase = plan?.phases.find(({ start_date: start }) => start >= (plan.current_phase?.end_date ?? Infinity));
  return (phase && tiers.get(phase.items[0]!.price)) ?? null;
}

/** The plan that the payments for the last paid week cover. */
function paidTier({ invoices }: Holdings, subscription: string, tiers: Map<string, string>): string {
  const paid = settledIn(invoices).filter(({ parent }) => isOf(parent, subscription));
  const lines = paid.flatMap(({ lines: { data } }) => data).filter(({ amount }) => amount > 0);
  const weeks = lines.filter(({ parent }) => parent.subscription_item_details?.proration === false);
  const end = Math.max(...weeks.map(({ period }) => period.end));
  const sold = lines
    .filter(({ period }) => period.end === end)
    .map(({ pricing }) => tiers.get(pricing.price_details.price));
  return sold.reduce<string>((best, tier) => (tier && level(tier) > level(best) ? tier : best), 'free');
}

/** The paid invoices whose credits, if they have any, are for settled ones. */
export function settledIn(invoices: Invoice[]): Invoice[] {
  const settled = new Set<Invoice>();
  for (const invoice of invoices.toSorted((one, other) => one.created - other.created)) {
    const credits = invoice.lines.data.filter(({ amount }) => amount < 0);
    const credited = credits.map(({ parent }) => parent.subscription_item_details?.proration_details.credited_items);
    const isPaidFor = credited.every((items) => !items || [...settled].some(({ id }) => id === items.invoice));
    if (invoice.status === 'paid' && isPaidFor) settled.add(invoice);
  }
  return [...settled];
}

/** The latest invoice is paid, and credits an unpaid one. */
function owesCredit({ invoices }: Holdings, subscription: string): boolean {
  const own = invoices.filter(({ parent }) => isOf(parent, subscription));
  const latest = own.toSorted((one, other) => one.created - other.created).at(-1);
  return latest?.status === 'paid' && !settledIn(own).includes(latest);
}

function isOf({ subscription_details: { subscription } }: Invoice['parent'], id: string): boolean {
  return subscription === id;
}

/** The plan has ended, and the page requests the payment. */
function unpaidState({ subscriptions }: Holdings): SubscriptionState {
  const { items, cancel_at: at } = subscriptions.find(({ status }) => status === 'unpaid')!;
  const renewalAt = items.data[0]!.current_period_end * 1000;
  return { ...free, status: 'unpaid', renewalAt, cancelAt: at && at * 1000 };
}

const lower = (one: string, other: string): string => (level(one) < level(other) ? one : other);
const level = (tier: string): number => planOf(tier).level;
