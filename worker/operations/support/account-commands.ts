import { outbox } from './parked-events.ts';
import { unclosed } from './unclosed-customers.ts';
import { withdrawalCommand } from './withdrawals.ts';
import { newOwner } from './new-owner.ts';
import { callAbout, callAsBot, numberOf, outcomeOf } from './worker-calls.ts';
import {
  type SupportCommand,
  findUser,
  phoneOf,
  type SupportRequest,
  asJson,
} from './command-audit.ts';
import {
  advise,
  describePayments,
  type Payments,
  describeUser,
  type UserDescription,
} from './user-description.ts';
import { clearPhoneRateLimitsSql } from '../../identity/phone.ts';
import { phoneTag } from '../../lib/log.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { customers, users } from '#db/schema';
import { phoneOfId, userOfSql } from '../../identity/aliases.ts';
import { moneyWithCode } from '../../contract/money.ts';
import { BusinessUserId } from '../../contract/schemas.ts';
import * as v from 'valibot';
import { endpoints } from '../../contract/endpoints.ts';
import { printableOnLine, UsageError } from '../command-line.ts';
import { RequestError } from '../../lib/request-error.ts';

const find: SupportCommand = {
  usage: 'find NUMBER|ID',
  about:
    'account, plan, week, limits, sessions, events, disputes and refunds; never the conversation',
  async run({ words, db, settings }) {
    const isId = v.is(BusinessUserId, words[0]);
    const phone = isId
      ? await phoneOfId({ db }, words[0]!).catch((error: Error) => unknownId(words[0]!, error))
      : await phoneOf(words[0], ', or an id of WhatsApp, such as US.1234567890');
    const user = await findUser(db, phone);
    return {
      would: `show the account of ${phone}`,
      about: await phoneTag(settings.CODE_PEPPER[0]!, phone),
      needsYes: false,
      async perform() {
        const found = await describeUser({ db, settings }, user, Date.now());
        const payments = await describePayments(settings, found.customer?.stripeId ?? null);
        const advice = advise(found, payments);
        return {
          data: { ...found, payments, advice },
          text: textOf(found, payments, advice),
        };
      },
    };
  },
};

function unknownId(id: string, error: Error): never {
  const isUnknown = error instanceof RequestError && error.errorName === 'notFound';
  throw isUnknown ? new Error(`Nobody has the id ${id}.`) : error;
}

function textOf(found: UserDescription, payments: Payments, advice: string[]): string {
  const lines = {
    ...identityLines(found),
    ...planLines(found),
    ...signInLines(found),
    ...outsideLines(found),
    ...paymentLines(payments),
  };
  const body = Object.entries(lines).map(
    ([name, value]) => `${`${name}:`.padEnd(22)}${printableOnLine(value)}`,
  );

  return [
    ...body,
    '',
    ...(advice.length > 0 ? advice : ['Nothing stands in the way of this user.']),
  ].join('\n');
}

type Lines = Record<string, string>;

function identityLines({ account, names, conflicts }: UserDescription): Lines {
  const nameOf = (wanted: (typeof names)[number]['kind']) => {
    const name = names.find(({ kind }) => kind === wanted);
    return name ? `${name.value}, by ${name.proof}, ${date(name.at)}` : 'none known';
  };

  return {
    Account: `${account.phone}, ${account.status}, platform ${account.platform}, opened ${date(account.createdAt)}`,
    Number: nameOf('phone'),
    'WhatsApp spells it': nameOf('whatsapp'),
    'WhatsApp id': nameOf('business'),
    Conflicts:
      conflicts
        .map(
          ({ userId, otherUserId, lastAt }) =>
            `${date(lastAt)}: ${otherUserId ? `the id of user ${otherUserId}` : 'an unknown id'} came with the number of user ${userId}`,
        )
        .join('; ') || 'none',
    'Last seen': `on the site ${date(account.lastSeenAt)}, message to the assistant ${date(account.lastContactAt)}`,
    Chat: account.chat.consentAt
      ? `consent ${account.chat.consentVersion} of ${date(account.chat.consentAt)}`
      : 'no consent',
  };
}

function planLines({ plan, week }: UserDescription): Lines {
  const limit = week.limit === -1 ? 'unlimited' : `${week.limit}`;

  return {
    Plan: `${plan.tier}; subscription ${plan.subscription}, ${plan.subscriptionStatus}`,
    Dates: `renews ${date(plan.renewalAt)}, ends ${date(plan.cancelAt)}, then ${plan.scheduledTier ?? 'the same plan'}`,
    Payments: plan.pause
      ? `pause ${plan.pause.status}, resumes ${date(plan.pause.resumesAt)}`
      : 'collected',
    Trial: plan.trial ? `${plan.trial.tier} until ${date(plan.trial.endsAt)}` : 'none',
    Week: `${week.used} of ${limit} messages, next week ${week.frozen ? 'with the next payment' : date(week.resetsAt)}`,
  };
}

function signInLines({ limits, sessions }: UserDescription): Lines {
  return {
    Limits:
      Object.entries({
        'next code': limits.nextCodeAt,
        'next code of the day': limits.nextCodeOfDayAt,
        'next try': limits.nextTryAt,
      })
        .flatMap(([what, at]) => (at === null ? [] : [`${what} ${date(at)}`]))
        .join(', ') || 'none',
    Sessions:
      sessions
        .map(({ createdAt, lastSeenAt }) => `from ${date(createdAt)}, seen ${date(lastSeenAt)}`)
        .join('; ') || 'none',
  };
}

function outsideLines({
  eventsForTheBot,
  statements,
  lastBotCalls,
  customer,
}: UserDescription): Lines {
  return {
    'Events for the bot':
      eventsForTheBot
        .map(({ seq, type, parkedAt }) => `${seq} ${type} ${parkedAt ? 'parked' : 'waits'}`)
        .join('; ') || 'none',
    Withdrawals:
      statements
        .map(
          ({ seq, submittedAt, origin, state, reason, dueAt }) =>
            `${seq} of ${date(submittedAt)}, ${origin}, ${state}${reason ? ` (${reason})` : ''}, next look ${date(dueAt)}`,
        )
        .join('; ') || 'none open',
    'Usage or entitlement':
      lastBotCalls.map(({ at, allowed }) => `${date(at)}${allowed ? '' : ' refused'}`).join('; ') ||
      'none',
    Stripe: customer
      ? `${customer.stripeId ?? 'no customer'}, fetched ${date(customer.syncedAt || null)}`
      : 'never sent there',
  };
}

function paymentLines(payments: Payments): Lines {
  if (payments.state !== 'known') return { Payments: payments.state };
  const { subscriptions, returned } = payments;
  const payment = (each: (typeof returned)[number]) =>
    `${each.charge} ${date(each.at)}: ${moneyWithCode(each.refunded, each.currency)} of ${moneyWithCode(each.amount, each.currency)} refunded${each.disputes.map((status) => `, dispute ${status}`).join('')}`;
  return {
    Subscriptions: subscriptions.map(({ id, status }) => `${id} ${status}`).join('; ') || 'none',
    'Disputes and refunds': returned.map(payment).join('; ') || 'none',
  };
}

function date(instant: number | null): string {
  return instant === null
    ? 'never'
    : `${new Date(instant).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Several users may share a network address. */
const release: SupportCommand = {
  usage: 'release NUMBER',
  about:
    'clears the sign-in limits of the number but that of all codes in a day, so that it can get a code at once',
  async run({ words, db, settings }) {
    const phone = await phoneOf(words[0]);
    return {
      would: `clear the limits on codes and wrong tries of ${phone}`,
      about: await phoneTag(settings.CODE_PEPPER[0]!, phone),
      needsYes: false,
      async perform() {
        const { rowsAffected } = await db.run(await clearPhoneRateLimitsSql(settings, phone));
        return {
          data: { cleared: rowsAffected },
          text: `Cleared ${rowsAffected} counted codes and wrong tries of ${phone}; but nothing clears the limit of all codes in a day.`,
        };
      },
    };
  },
};

/** Each run takes at most 45 s. */
const syncTimeoutMs = 150_000;
const pauseMs = 1000;

/** Waits for the cron job; open pages then update. */
const sync: SupportCommand = {
  usage: 'sync NUMBER',
  about: "fetches the user's subscription from Stripe again, within two minutes",
  async run(request) {
    const { db, settings, words } = request;
    const user = await findUser(db, words[0]);
    return {
      would: `fetch the subscription of ${user.phone} from Stripe`,
      about: await phoneTag(settings.CODE_PEPPER[0]!, user.phone),
      needsYes: false,
      perform: () => fetchAgain(request, user.id, user.phone),
    };
  },
};

async function fetchAgain({ db }: SupportRequest, userId: string, phone: string) {
  const mine = eq(customers.userId, userId);
  const again = { dirty: sql`${customers.dirty} + 1`, dueAt: 0 };
  const [row] = await db
    .update(customers)
    .set(again)
    .where(mine)
    .returning({ wanted: customers.dirty });
  if (!row) throw new Error('This user was never sent to Stripe: there is nothing to fetch.');

  process.stderr.write('Waiting for the cron job, which runs every minute.\n');
  for (const until = Date.now() + syncTimeoutMs; Date.now() < until; await wait(pauseMs)) {
    const [now] = await db.select().from(customers).where(mine);
    if (!now) throw new Error('The account was deleted meanwhile.');
    if (now.synced >= row.wanted) {
      const { tier, subscriptionStatus } = await findUser(db, phone);
      const data = { fetched: true, tier, subscriptionStatus };
      return {
        data,
        text: `Fetched from Stripe: ${tier}, ${subscriptionStatus}.`,
      };
    }
  }

  const text =
    'The cron job has not fetched it yet; it keeps trying. Look for sync_postponed in the log.';
  return {
    data: { fetched: false },
    text,
    complete: false,
  };
}

const { path, input: Input } = endpoints.botTrials;

/** By the bot's call, so that the same rules apply. */
const trial: SupportCommand = {
  usage: 'trial NUMBER --tier T --days N',
  about:
    'a link that starts a trial (basic, premium or platinum; 1 to 30 days); it works once, for 7 days',
  async run({ words, flags, settings }) {
    const phone = await phoneOf(words[0]);
    const wanted = {
      phone,
      ...(flags.tier && { tier: flags.tier }),
      ...(flags.days && { days: Number(flags.days) }),
    };
    const parsed = v.safeParse(Input, wanted);
    if (!parsed.success)
      throw new UsageError(`--tier takes basic, premium or platinum; --days takes 1 to 30.`);
    const { tier, days } = parsed.output;
    return {
      would: `create a link for ${days} days of ${tier} for ${phone}; who opens it first is signed in as that number`,
      about: await phoneTag(settings.CODE_PEPPER[0]!, phone),
      needsYes: false,
      async perform() {
        type Made = { url: string; expiresAt: string };
        const { url, expiresAt } = await callAsBot<Made>(settings, path, parsed.output);
        return {
          data: { url, expiresAt, tier, days },
          text: `${url}\nSend it to ${phone} only. It works until ${expiresAt}.`,
        };
      },
    };
  },
};

const exportUser: SupportCommand = {
  usage: 'export NUMBER',
  about: 'prints what "Download My Data" gives the user, the conversation included, as JSON',
  async run(request) {
    const user = await findUser(request.db, request.words[0]);
    return {
      would: `print what is kept about ${user.phone}`,
      about: await phoneTag(request.settings.CODE_PEPPER[0]!, user.phone),
      needsYes: false,
      async perform() {
        const data = await callAbout(request.settings, user.id, endpoints.supportExport);
        return { data, text: asJson(data) };
      },
    };
  },
};

const erase: SupportCommand = {
  usage: 'erase NUMBER --yes',
  about: 'deletes the account, its conversation and its subscription for good',
  async run(request) {
    const user = await findUser(request.db, request.words[0]);
    const opened = new Date(user.createdAt).toISOString().slice(0, 10);
    const account = `the ${user.tier} account of ${user.phone}, opened on ${opened}`;
    return {
      would: `erase ${account}, with its conversation and its subscription, for good`,
      about: await phoneTag(request.settings.CODE_PEPPER[0]!, user.phone),
      needsYes: true,
      async perform() {
        const call = callAbout(request.settings, user.id, endpoints.supportErase);
        const isDone = async () => (await numberOf(request, user.id)) === null;
        return outcomeOf(call, isDone, {
          data: { erased: user.id },
          text: `Erased ${account}.`,
        });
      },
    };
  },
};

const move: SupportCommand = {
  usage: 'move OLD NEW --yes',
  about:
    'gives the account another number and ends all its sessions; check first that the person is who they say',
  async run(request) {
    const { db, settings, words } = request;
    const user = await findUser(db, words[0]);
    const phone = await phoneOf(words[1]);

    const [other] = await db
      .select({ id: users.id })
      .from(users)
      .where(eq(users.id, userOfSql('phone', phone)));

    if (other?.id === user.id)
      throw new UsageError(`${words[0]} and ${words[1]} are the same number. Nothing was changed.`);
    if (other) {
      throw new Error(
        `Somebody has the number ${phone}. Nothing was changed. If it is a second account of the same person that may go: \`erase ${phone} --yes\`, then repeat this.`,
      );
    }

    return {
      would: `move the ${user.tier} account of ${user.phone} to ${phone}, and end all its sessions`,
      about: await phoneTag(settings.CODE_PEPPER[0]!, user.phone),
      needsYes: true,
      async perform() {
        const call = callAbout(settings, user.id, endpoints.supportMove, { phone });
        const isDone = async () => (await numberOf(request, user.id)) === phone;
        const text = `Moved the account of ${user.phone} to ${phone}.`;
        return outcomeOf(call, isDone, {
          data: { moved: user.id, phone },
          text,
        });
      },
    };
  },
};

export const supportCommands: Record<string, SupportCommand> = {
  find,
  trial,
  sync,
  release,
  outbox,
  withdrawals: withdrawalCommand,
  unclosed,
  export: exportUser,
  move,
  'new-owner': newOwner,
  erase,
};
