import { botCalls } from '#db/schema';
import { planOf, type PlanId } from '../../../worker/contract/plans.ts';
import { keyedHash } from '../../../worker/lib/crypto.ts';
import { currentCount, weekMs } from '../../../worker/usage/week.ts';
import type {
  Customer,
  Invoice,
  Line,
  Schedule,
  Subscription,
} from '../../sandbox/stripe/objects.ts';
import type { Person, Post } from '../person.ts';
import type { Rig, World } from '../rig.ts';
import { accountsIn, signedIn, type Account, checkCases, type Finding } from './accounts.ts';

export type Holdings = {
  customer: Pick<Customer, 'id' | 'deleted'>;
  subscriptions: Subscription[];
  schedules: Schedule[];
  invoices: Invoice[];
};

export async function plansAgree(world: World): Promise<Finding> {
  const { database, tiers } = world.rig;
  const accounts = await accountsIn(database);
  return checkCases(
    'plans in database and profile equal to Stripe',
    signedIn(world),
    async (person) => {
      const account = accounts.get(person.phone)!;
      const standings = [kept(stateAt(await holdingsOf(world.rig, person), tiers)), kept(account)];
      // During our own trial the profile shows the trial instead; a plan that still waits is granted once it is paid.
      const granted = kept(
        account.tierWaits
          ? {
              ...account,
              tier: 'free',
            }
          : account,
      );
      const shown = account.trialTier === null ? await told(world, person) : granted;
      if (standings[0] === standings[1] && shown === granted) return null;
      return `${person.phone}: Stripe, database, profile: ${[...standings, shown].join(' ')}`;
    },
  );
}

/** A user who has paid or saved a card has a subscription, and never two at once. */
export async function checkoutsHold({ people, rig }: World): Promise<Finding> {
  const buyers = people.filter(({ checkouts, left }) => checkouts > 0 && !left);
  return checkCases(
    'completed checkouts led to one plan, never two at once',
    buyers,
    async (person) => {
      const holdings = await holdingsOf(rig, person);
      if (holdings.subscriptions.length === 0) return `${person.phone} has no subscription`;
      const live = liveIn(holdings);
      return live.length > 1 ? `${person.phone} pays ${live.length} times` : null;
    },
  );
}

const nothing: Holdings = {
  customer: { id: '', deleted: true },
  subscriptions: [],
  schedules: [],
  invoices: [],
};

export async function holdingsOf(
  { control }: Rig,
  { phone }: { phone: string },
): Promise<Holdings> {
  return control<Holdings>('GET', `/stripe/customers/${encodeURIComponent(phone)}`).catch(
    () => nothing,
  );
}

/** What the user has or should have, as text; instants in unix ms. */
type State = Pick<
  Account,
  'tier' | 'subscriptionStatus' | 'renewalAt' | 'cancelAt' | 'scheduledTier'
>;

export const kept = ({
  tier,
  subscriptionStatus,
  renewalAt,
  cancelAt,
  scheduledTier,
}: State): string =>
  JSON.stringify({
    tier,
    subscriptionStatus,
    renewalAt,
    cancelAt,
    scheduledTier,
  });

async function told({ site }: World, { token }: Person): Promise<string> {
  const { body } = await site.call('getMe', { token });
  const { metadata } = body.profile ?? { metadata: {} };
  const instant = (date: string | null) => (date ? Date.parse(date) : null);
  return kept({
    tier: metadata.subscriptionTier,
    subscriptionStatus: metadata.subscriptionStatus,
    renewalAt: instant(metadata.renewalDate),
    cancelAt: instant(metadata.cancelAtDate),
    scheduledTier: metadata.scheduledDowngradeTierId,
  });
}

const without = {
  renewalAt: null,
  cancelAt: null,
  scheduledTier: null,
};
const free: State = {
  tier: 'free',
  subscriptionStatus: 'active',
  ...without,
};

export const liveIn = ({ subscriptions }: Holdings): Subscription[] =>
  subscriptions.filter(({ status }) => ['active', 'trialing', 'past_due'].includes(status));

/** The expected state, derived from Stripe's objects alone, without the product's rules. */
export function stateAt(holdings: Holdings, tiers: Map<string, PlanId>): State {
  const [subscription] = liveIn(holdings);
  if (!subscription) return endedState(holdings);
  const item = subscription.items.data[0]!;
  const sold = tiers.get(item.price.id) ?? 'free';
  const isDue = subscription.status === 'past_due' || owesCredit(holdings, subscription.id);
  const end =
    subscription.status === 'trialing' ? subscription.trial_end! : item.current_period_end;
  const cancelAt = subscription.cancel_at ?? (subscription.cancel_at_period_end ? end : null);
  const next = cancelAt === null ? nextTier(subscription, holdings, tiers) : null;
  const isReported =
    next !== null &&
    next !== sold &&
    (subscription.status === 'trialing' || level(next) < level(sold));
  const scheduledTier = isReported ? next : null;
  const paid = paidTier(holdings, subscription.id, tiers);
  return {
    tier: isDue && level(paid) < level(sold) ? paid : sold,
    subscriptionStatus: isDue ? 'past_due' : statusOf(subscription, cancelAt, scheduledTier),
    renewalAt: end * 1000,
    cancelAt: cancelAt && cancelAt * 1000,
    scheduledTier,
  };
}

function statusOf({ status }: Subscription, cancelAt: number | null, scheduledTier: PlanId | null) {
  if (cancelAt !== null) return 'cancellation_scheduled';
  if (status === 'trialing') return 'trialing';
  return scheduledTier ? 'downgrade_scheduled' : 'active';
}

function nextTier(
  { schedule }: Subscription,
  { schedules }: Holdings,
  tiers: Map<string, PlanId>,
): PlanId | null {
  const plan = schedules.find(({ id, status }) => id === schedule && status === 'active');
  const phase = plan?.phases.find(
    ({ start_date: start }) => start >= (plan.current_phase?.end_date ?? Infinity),
  );
  return (phase && tiers.get(phase.items[0]!.price)) ?? null;
}

/** The plan that the payments for the last paid week cover. */
function paidTier(
  { invoices }: Holdings,
  subscription: string,
  tiers: Map<string, PlanId>,
): PlanId {
  const lines = settledIn(invoicesOf(invoices, subscription)).flatMap(
    ({ lines: { data } }) => data,
  );
  const paid = lines.filter(({ amount }) => amount > 0);
  const weeks = paid.filter(({ parent }) => !parent.subscription_item_details.proration);
  const end = Math.max(...weeks.map(({ period }) => period.end));
  const sold = paid
    .filter(({ period }) => period.end === end)
    .map((line) => tiers.get(priceOf(line)) ?? 'free');
  return sold.reduce((best, tier) => (level(tier) > level(best) ? tier : best), 'free');
}

export const priceOf = ({ pricing }: Line): string =>
  (pricing as { price_details: { price: string } }).price_details.price;

/** The paid invoices whose credits, if they have any, are for settled ones. */
export function settledIn(invoices: Invoice[]): Invoice[] {
  const settled = new Set<Invoice>();
  for (const invoice of oldestFirst(invoices)) {
    const credits = invoice.lines.data.filter(({ amount }) => amount < 0);
    const credited = credits.map(
      ({ parent }) => parent.subscription_item_details.proration_details?.credited_items,
    );
    const isPaidFor = credited.every(
      (items) => !items || [...settled].some(({ id }) => id === items.invoice),
    );
    if (invoice.status === 'paid' && isPaidFor) settled.add(invoice);
  }
  return [...settled];
}

/** The latest invoice is paid, and credits an unpaid one. */
function owesCredit({ invoices }: Holdings, subscription: string): boolean {
  const own = invoicesOf(invoices, subscription);
  const latest = oldestFirst(own).at(-1);
  return latest?.status === 'paid' && !settledIn(own).includes(latest);
}

export const oldestFirst = (invoices: Invoice[]) =>
  invoices.toSorted((one, other) => one.created - other.created);

const invoicesOf = (invoices: Invoice[], subscription: string) =>
  invoices.filter(({ parent }) => parent?.subscription_details.subscription === subscription);

/** After an unpaid subscription the page requests the payment. */
function endedState({ subscriptions }: Holdings): State {
  const unpaid = subscriptions.find(({ status }) => status === 'unpaid');
  if (!unpaid) return free;
  const { items, cancel_at: at } = unpaid;
  const renewalAt = items.data[0]!.current_period_end * 1000;
  return {
    ...free,
    subscriptionStatus: 'unpaid',
    renewalAt,
    cancelAt: at && at * 1000,
  };
}

const level = (tier: PlanId): number => planOf(tier).level;

/** What the database holds of usage posts, by their ids; `used` is the count before the post. */
type StoredPost = Partial<Record<'used' | 'weekStart' | 'seq' | 'allowed', number>>;
type Posts = Map<string, StoredPost>;

const countOf = (account: Account) => currentCount(account, Date.now()).used;

/** Every post with a response is stored once, and the counts have no gap and no overlap. */
export async function postsCountOnce({ people, rig }: World): Promise<Finding> {
  const { posts: stored, strangers } = await postsIn(rig, people);
  const finding = await checkCases('accepted usage posts counted exactly once', people, (person) =>
    chainBreak(person, stored),
  );
  finding.broken.push(...strangers.map((id) => `${id} is counted and nobody was told`));
  return {
    ...finding,
    checked: people.flatMap(({ posts }) => posts.filter(({ allowed }) => allowed)).length,
  };
}

export async function totalsAgree({ rig, site, people }: World): Promise<Finding> {
  const accounts = await accountsIn(rig.database);
  const { posts: stored } = await postsIn(rig, people);
  return checkCases(
    'totals of posts, database, bot and profile agree',
    signedIn({ people }),
    async (person) => {
      const { phone, token } = person;
      const { body: told } = await site.bot('botEntitlements', person.nextId('ask'), { phone });
      const { profile } = (await site.call('getMe', { token })).body;
      const last = inOrder(person, stored).at(-1);
      const posted = last?.resetsAt === told.resetsAt ? last!.used : 0;
      const totals = [
        posted,
        countOf(accounts.get(phone)!),
        told.used,
        profile?.messagesUsedThisPeriod,
      ];
      return new Set(totals).size === 1
        ? null
        : `${phone}: posts, database, bot, profile: ${totals.join(', ')}`;
    },
  );
}

/** The stored posts by the ids with which they were made, and what was allowed under no id of ours. */
async function postsIn(
  { database, product }: Rig,
  people: Person[],
): Promise<{ posts: Posts; strangers: string[] }> {
  const { id, facts, outcome } = botCalls;
  const rows = await database
    .select({
      id,
      facts,
      outcome,
    })
    .from(botCalls);
  const byStoredId = new Map(rows.map((row) => [row.id, row]));
  const posts: Posts = new Map();
  for (const person of people) {
    const counted = [...person.conversation.sent.keys()].map(usageId);
    for (const made of [...person.idsOf('use'), ...counted, ...person.idsOf('ask')]) {
      const storedId = await keyedHash(product.vars.CODE_PEPPER, 'bot-call-id', made);
      const row = byStoredId.get(storedId);
      byStoredId.delete(storedId);
      if (row && !made.startsWith('ask_')) posts.set(made, storedPost(row));
    }
  }
  const left = [...byStoredId.values()].filter((row) => row.outcome === 'allowed');
  return { posts, strangers: left.map((row) => row.id) };
}

function storedPost(row: { facts: string; outcome: string }): StoredPost {
  return {
    ...(JSON.parse(row.facts) as StoredPost),
    allowed: Number(row.outcome === 'allowed'),
  };
}

/** The local bot counts every message of the conversation, under an id that follows from the message's. */
const usageId = (messageId: string): string => `usage_${messageId}`;

function botPosts({ conversation }: Person, stored: Posts): Post[] {
  return [...conversation.sent.keys()].map(usageId).flatMap((id) => {
    const { used, weekStart, allowed } = stored.get(id) ?? {};
    if (used === undefined || weekStart === undefined) return [];
    const resetsAt = new Date(weekStart + weekMs).toISOString();
    return [
      {
        id,
        count: 1,
        allowed: allowed === 1,
        used: used + 1,
        resetsAt,
      },
    ];
  });
}

function inOrder(person: Person, stored: Posts): Post[] {
  const posts = [...person.posts, ...botPosts(person, stored)];
  const order = ({ id }: Post) => stored.get(id)?.seq ?? -1;
  return posts.filter(({ allowed }) => allowed).toSorted((a, b) => order(a) - order(b));
}

function chainBreak(person: Person, stored: Posts): string | null {
  const lost = person.posts.find(
    ({ id, allowed }) => !stored.has(id) || (stored.get(id)!.allowed ?? 0) !== Number(allowed),
  );
  if (lost) return `${lost.id} was answered allowed: ${lost.allowed} and is kept otherwise`;
  let before: Post | undefined;
  for (const post of inOrder(person, stored)) {
    const start = before?.resetsAt === post.resetsAt ? before.used : 0;
    if (post.used !== start + post.count)
      return `${post.id} adds ${post.count} to ${start} and gives ${post.used}`;
    before = post;
  }
  return null;
}

export async function streamsAgree({ rig, people }: World): Promise<Finding> {
  const accounts = await accountsIn(rig.database);
  const streams = signedIn({ people }).flatMap(({ phone, followers }) =>
    followers.map(({ isOpen, total }) => ({
      phone,
      total: isOpen ? total : undefined,
    })),
  );
  return checkCases(
    'open streams end at the total of the database',
    streams,
    ({ phone, total }) => {
      const count = countOf(accounts.get(phone)!);
      return total === count
        ? null
        : `${phone}: the stream tells ${total ?? 'nothing'}, the database ${count}`;
    },
  );
}
