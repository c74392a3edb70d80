import type { Person } from '../person.ts';
import type { World } from '../world.ts';
import { accountsIn, signedIn, type Account } from './accounts.ts';
import { examine, type Finding } from './finding.ts';
import { free, liveIn, standingAt, type Holdings, type SubscriptionState } from './stripe-subscriptions.ts';

/** What the database and the profile say of every plan is what Stripe holds. */
export async function plansAgree(world: World): Promise<Finding> {
  const accounts = await accountsIn(world.rig.database);
  return examine('plans in database and profile equal to Stripe', signedIn(world), async (person) => {
    const holdings = await holdingsOf(world, person);
    const account = accounts.get(person.phone)!;
    const standings = [holdings ? standingAt(holdings, world.rig.tiers) : free, kept(account)];
    // During a trial of ours the profile tells of the trial instead.
    if (account.trial_tier === null) standings.push(await told(world, person));
    const texts = standings.map((standing) => JSON.stringify(standing));
    return new Set(texts).size === 1 ? null : `${person.phone}: Stripe, database, profile: ${texts.join(' ')}`;
  });
}

/** Who has paid or saved a card has a subscription to show for it, and never two at once. */
export async function checkoutsHold(world: World): Promise<Finding> {
  const buyers = world.people.filter(({ checkouts, left }) => checkouts > 0 && !left);
  return examine('completed checkouts led to one plan, never two at once', buyers, async (person) => {
    const holdings = await holdingsOf(world, person);
    if (!holdings || holdings.subscriptions.length === 0) return `${person.phone} has no subscription`;
    const live = liveIn(holdings);
    return live.length > 1 ? `${person.phone} pays ${live.length} times` : null;
  });
}

/** What the local Stripe holds of somebody; null where it has never received of them. */
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
