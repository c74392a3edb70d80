import type { Person, Post } from '../person.ts';
import type { World } from '../rig.ts';
import { accountsIn, countOf, signedIn, checkCases, type Finding } from './accounts.ts';

/** A usage post in the database; `used` is the count before it, `weekStart` in unix ms. */
type Kept = { id: string; seq: number | null; allowed: number; used: number | null; weekStart: number | null };

const weekMs = 7 * 86_400_000;

/** Every post with a response is stored once, and the counts have no gap and no overlap. */
export async function postsCountOnce({ people, rig }: World): Promise<Finding> {
  const kept = await postsIn(rig.database);
  const known = new Set(people.flatMap(({ posts }) => posts.map(({ id }) => id)));
  const finding = await checkCases('accepted usage posts counted exactly once', people, (person) =>
    chainBreak(person, kept),
  );
  for (const { conversation } of people) for (const id of conversation.attempted) known.add(usageId(id));
  const strangers = [...kept.values()].filter(({ id, allowed }) => allowed === 1 && !known.has(id));
  finding.broken.push(...strangers.map(({ id }) => `${id} is counted and nobody was told`));
  return { ...finding, checked: people.flatMap(({ posts }) => posts.filter(({ allowed }) => allowed)).length };
}

/** The sum of a user's posts is the total in every response and stream. */
export async function totalsAgree(world: World): Promise<Finding> {
  const [accounts, kept] = [await accountsIn(world.rig.database), await postsIn(world.rig.database)];
  return checkCases('totals of posts, database, bot and profile agree', signedIn(world), async (person) => {
    const { phone, token } = person;
    const { site } = world;
    const told = await site.bot('bot entitlements', '/api/bot/entitlements', person.nextId('ask'), { phone });
    const profile = await site.call('profile', 'GET', '/api/user/me', { token });
    const posted = postedIn(inOrder(person, kept), told.body.resetsAt);
    const totals = [
      posted,
      countOf(accounts.get(phone)!),
      told.body.used,
      profile.body.profile?.messagesUsedThisPeriod,
    ];
    return new Set(totals).size === 1 ? null : `${phone}: posts, database, bot, profile: ${totals.join(', ')}`;
  });
}

async function postsIn(database: World['rig']['database']): Promise<Map<string, Kept>> {
  const { rows } = await database.execute(
    `select id, answer ->> 'seq' as seq, coalesce(answer ->> 'allowed', 0) as allowed, answer ->> 'used' as used,
      answer ->> 'weekStart' as weekStart from bot_calls where id like 'use\\_%' escape '\\' or id like 'usage\\_%' escape '\\'`,
  );
  return new Map((rows as unknown as Kept[]).map((row) => [row.id, row]));
}

/** The local bot counts every message of the conversation, under an id that follows from the message's. */
const usageId = (messageId: string): string => `usage_${messageId}`;

function botPosts({ conversation }: Person, kept: Map<string, Kept>): Post[] {
  return [...conversation.attempted].flatMap((id) => {
    const row = kept.get(usageId(id));
    if (!row || row.used === null || row.weekStart === null) return [];
    const resetsAt = new Date(row.weekStart + weekMs).toISOString();
    return [{ id: row.id, count: 1, allowed: row.allowed === 1, used: row.used + 1, resetsAt }];
  });
}

/** Counted posts in the order of the database. */
function inOrder(person: Person, kept: Map<string, Kept>): Post[] {
  const posts = [...person.posts, ...botPosts(person, kept)];
  const order = ({ id }: Post) => kept.get(id)?.seq ?? -1;
  return posts.filter(({ allowed }) => allowed).toSorted((a, b) => order(a) - order(b));
}

function chainBreak(person: Person, kept: Map<string, Kept>): string | null {
  const lost = person.posts.find(({ id, allowed }) => (kept.get(id)?.allowed ?? -1) !== Number(allowed));
  if (lost) return `${lost.id} was answered allowed: ${lost.allowed} and is kept otherwise`;
  let before: Post | undefined;
  for (const post of inOrder(person, kept)) {
    const start = before?.resetsAt === post.resetsAt ? before.used : 0;
    if (post.used !== start + post.count) return `${post.id} adds ${post.count} to ${start} and gives ${post.used}`;
    before = post;
  }
  return null;
}

/** The posts of the week that ends at an instant. */
function postedIn(posts: Post[], resetsAt: string): number {
  const last = posts.at(-1);
  return last?.resetsAt === resetsAt ? last.used : 0;
}

/** Every tab has reconnected, and its stream has sent the total of the database. */
export async function streamsAgree(world: World): Promise<Finding> {
  const accounts = await accountsIn(world.rig.database);
  const streams = signedIn(world).flatMap((person) => person.followers.map((follower) => ({ person, follower })));
  return checkCases('open streams end at the total of the database', streams, ({ person: { phone }, follower }) => {
    const count = countOf(accounts.get(phone)!);
    if (follower.total === count) return null;
    return `${phone}: the stream tells ${follower.total ?? 'nothing'}, the database ${count}`;
  });
}
