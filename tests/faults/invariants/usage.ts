import { sql } from 'drizzle-orm';
import { botCalls } from '#db/schema';
import type { Found } from '../../../worker/usage/allowance.ts';
import { currentCount, weekMs } from '../../../worker/usage/week.ts';
import type { Person, Post } from '../person.ts';
import type { Rig, World } from '../rig.ts';
import { accountsIn, type Account, signedIn, checkCases, type Finding } from './accounts.ts';

/** What the database holds of usage posts, by their ids; `used` is the count before the post. */
type Posts = Map<string, Found>;

const countOf = (account: Account) => currentCount(account, Date.now()).used;

/** Every post with a response is stored once, and the counts have no gap and no overlap. */
export async function postsCountOnce({ people, rig }: World): Promise<Finding> {
  const stored = await postsIn(rig);
  const finding = await checkCases('accepted usage posts counted exactly once', people, (person) =>
    chainBreak(person, stored),
  );
  const known = new Set(people.flatMap(({ posts }) => posts.map(({ id }) => id)));
  for (const { conversation } of people) for (const id of conversation.sent.keys()) known.add(usageId(id));
  const strangers = [...stored].filter(([id, { allowed }]) => allowed === 1 && !known.has(id));
  finding.broken.push(...strangers.map(([id]) => `${id} is counted and nobody was told`));
  return { ...finding, checked: people.flatMap(({ posts }) => posts.filter(({ allowed }) => allowed)).length };
}

export async function totalsAgree({ rig, site, people }: World): Promise<Finding> {
  const [accounts, stored] = [await accountsIn(rig.database), await postsIn(rig)];
  return checkCases('totals of posts, database, bot and profile agree', signedIn({ people }), async (person) => {
    const { phone, token } = person;
    const { body: told } = await site.bot('botEntitlements', person.nextId('ask'), { phone });
    const { profile } = (await site.call('getMe', { token })).body;
    const last = inOrder(person, stored).at(-1);
    const posted = last?.resetsAt === told.resetsAt ? last!.used : 0;
    const totals = [posted, countOf(accounts.get(phone)!), told.used, profile?.messagesUsedThisPeriod];
    return new Set(totals).size === 1 ? null : `${phone}: posts, database, bot, profile: ${totals.join(', ')}`;
  });
}

async function postsIn({ database }: Rig): Promise<Posts> {
  const { id, answer } = botCalls;
  const isPost = sql`${id} glob 'use_*' or ${id} glob 'usage_*'`;
  const rows = await database.select({ id, answer }).from(botCalls).where(isPost);
  return new Map(rows.map((row) => [row.id, row.answer as Found]));
}

/** The local bot counts every message of the conversation, under an id that follows from the message's. */
const usageId = (messageId: string): string => `usage_${messageId}`;

function botPosts({ conversation }: Person, stored: Posts): Post[] {
  return [...conversation.sent.keys()].map(usageId).flatMap((id) => {
    const { used, weekStart, allowed }: Partial<Found> = stored.get(id) ?? {};
    if (used === undefined || weekStart === undefined) return [];
    const resetsAt = new Date(weekStart + weekMs).toISOString();
    return [{ id, count: 1, allowed: allowed === 1, used: used + 1, resetsAt }];
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
    if (post.used !== start + post.count) return `${post.id} adds ${post.count} to ${start} and gives ${post.used}`;
    before = post;
  }
  return null;
}

export async function streamsAgree({ rig, people }: World): Promise<Finding> {
  const accounts = await accountsIn(rig.database);
  const streams = signedIn({ people }).flatMap(({ phone, followers }) =>
    followers.map(({ isOpen, total }) => ({ phone, total: isOpen ? total : undefined })),
  );
  return checkCases('open streams end at the total of the database', streams, ({ phone, total }) => {
    const count = countOf(accounts.get(phone)!);
    return total === count ? null : `${phone}: the stream tells ${total ?? 'nothing'}, the database ${count}`;
  });
}
