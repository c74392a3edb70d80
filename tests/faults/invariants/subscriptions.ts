import type { Person } from '../person.ts';
import type { World } from '../world.ts';
import { accountsIn, signedIn, type Account } from './accounts.ts';
import { checkCases, type Finding } from './finding.ts';
import { free, liveIn, standingAt, type Holdings, type SubscriptionState } from './stripe-subscriptions.ts';

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
