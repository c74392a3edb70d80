import { desc, eq } from 'drizzle-orm';
import { identityConflicts, leftWeeks, users, type User } from '#db/schema';
import { endpoints } from '../../contract/endpoints.ts';
import { isAccountContestedSql } from '../../identity/contest.ts';
import { phoneTag } from '../../lib/log.ts';
import { isLeftWeekOfSql } from '../../usage/week.ts';
import {
  findUser,
  type Action,
  type SupportCommand,
  type SupportRequest,
} from './command-audit.ts';
import { callAbout, callAsBot, numberOf, outcomeOf } from './worker-calls.ts';

export const newOwner: SupportCommand = {
  usage: 'new-owner NUMBER --yes',
  about:
    'erases the account of a number that WhatsApp gave to somebody else, and begins an empty one for them',
  async run(request) {
    const user = await findUser(request.db, request.words[0]);
    const { phone } = user;
    await requireContested(request, user);
    const opened = new Date(user.createdAt).toISOString().slice(0, 10);
    const account = `the ${user.tier} account of ${phone}, opened on ${opened}`;
    return {
      would: `erase ${account}, with its conversation and its subscription, for good, and begin an empty account for whoever has the number now`,
      about: await phoneTag(request.settings.CODE_PEPPER[0]!, phone),
      needsYes: true,
      perform: () => begin(request, user, account),
    };
  },
};

/** Throws where this is the wrong command. */
async function requireContested({ db }: SupportRequest, user: User): Promise<void> {
  const { id, phone } = user;
  const [[number], [conflict]] = await db.batch([
    db.select({ isContested: isAccountContestedSql }).from(users).where(eq(users.id, id)),
    db
      .select({ ofOther: users.phone })
      .from(identityConflicts)
      .leftJoin(users, eq(users.id, identityConflicts.otherUserId))
      .where(eq(identityConflicts.userId, id))
      .orderBy(desc(identityConflicts.lastAt))
      .limit(1),
  ]);
  if (!number?.isContested)
    throw new Error(
      `${phone} has come with no other id. Nothing was changed. If its new owner has proven it: \`erase ${phone} --yes\`; their next message begins an empty account.`,
    );
  if (conflict?.ofOther)
    throw new Error(
      `The id that came with ${phone} is of the account ${conflict.ofOther}. Nothing was changed. If that person has the number now: \`erase ${phone} --yes\`, then \`move ${conflict.ofOther} ${phone} --yes\`.`,
    );
}

async function begin(
  request: SupportRequest,
  { id, phone }: User,
  account: string,
): ReturnType<Action['perform']> {
  const { db, settings } = request;
  // If the earlier id writes now, it is theirs.
  const call = callAbout(settings, id, endpoints.supportErase, { onlyContested: true });
  const isDone = async () => (await numberOf(request, id)) === null;
  const text = `Erased ${account}, and began an empty one.`;
  const erased = await outcomeOf(call, isDone, {
    data: { erased: id, phone },
    text,
  });
  if (erased.complete === false) return erased;

  // What the earlier owner has used of the week is not theirs.
  await db.delete(leftWeeks).where(await isLeftWeekOfSql(phone, settings));
  // The next message from the number brings its id.
  await callAsBot(settings, endpoints.botContacts.path, { phone });
  return erased;
}
