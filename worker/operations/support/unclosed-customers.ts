import { withdrawals } from '#db/schema';
import { deleteUnclosed, howToClose, unclosedCustomers } from '../../account/customers-to-close.ts';
import { openOfSql } from '../../withdrawal/statements.ts';
import { UsageError } from '../command-line.ts';
import type { Action, SupportCommand, SupportRequest } from './command-audit.ts';

export const unclosed: SupportCommand = {
  usage: 'unclosed [close CUSTOMER --yes]',
  about:
    'lists the customers of deleted accounts that Stripe refused to close, or forgets one that you closed there yourself',
  async run(request) {
    const [verb, id] = request.words;
    if (verb === undefined) return list(request);
    if (verb !== 'close') throw new UsageError('unclosed takes nothing, or close.');
    return close(request, id);
  },
};

function list({ db }: SupportRequest): Action {
  return {
    would: 'list the customers that Stripe has not closed',
    about: 'unclosed customers',
    needsYes: false,
    async perform() {
      const data = await named(db);
      const lines = data.map(
        ({ customer, triedAgainAt }) =>
          `${customer}  tried again after ${new Date(triedAgainAt).toISOString()}`,
      );
      const text = [...lines, howToClose].join('\n');
      return {
        data,
        text: lines.length > 0 ? text : 'Every customer is closed.',
      };
    },
  };
}

/** A lost customer is found by the id of its user. */
async function named(db: SupportRequest['db']) {
  const unclosed = await unclosedCustomers(db);
  return unclosed.map(({ stripeId, userId, triedAgainAt }) => ({
    customer: stripeId ?? userId,
    userId,
    triedAgainAt,
  }));
}

async function close({ db }: SupportRequest, id: string | undefined): Promise<Action> {
  if (!id) throw new UsageError('Give the customer, as `unclosed` lists it.');
  const found = (await named(db)).find(({ customer }) => customer === id);
  if (!found) throw new Error('`unclosed` lists no such customer. Nothing was changed.');
  const owed = await owedTo(db, found.userId);
  return {
    would: `forget the customer ${id}, because nothing at Stripe can charge it any more${owed}`,
    about: `customer ${id}`,
    needsYes: true,
    async perform() {
      await deleteUnclosed(db, found.userId);
      return {
        data: { closed: id },
        text: `The customer ${id} is closed${owed}.`,
      };
    },
  };
}

async function owedTo(db: SupportRequest['db'], userId: string): Promise<string> {
  const open = await db.select({ seq: withdrawals.seq }).from(withdrawals).where(openOfSql(userId));
  if (open.length === 0) return '';

  const numbers = open.map(({ seq }) => seq).join(', ');
  return `; withdrawal ${numbers} is left to you (\`npm run support -- withdrawals\`)`;
}
