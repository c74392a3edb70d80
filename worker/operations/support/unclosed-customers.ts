import { deleteLeft, howToClose, leftCustomers } from '../../account/left-customers.ts';
import { UsageError } from '../owner-command.ts';
import type { Action, SupportCommand, SupportRequest } from './command-audit.ts';

/** Customers of deleted accounts that Stripe has not closed: somebody who left may be charged. */
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
      return { data, text: lines.length > 0 ? text : 'Every customer is closed.' };
    },
  };
}

/** Without an id of Stripe, the lost customer is found there by the id of its user. */
async function named(db: SupportRequest['db']) {
  const left = await leftCustomers(db);
  return left.map(({ stripeId, userId, triedAgainAt }) => ({
    customer: stripeId ?? userId,
    userId,
    triedAgainAt,
  }));
}

async function close({ db }: SupportRequest, id: string | undefined): Promise<Action> {
  const found = (await named(db)).find(({ customer }) => customer === id);
  if (!found) throw new Error('`unclosed` lists no such customer. Nothing was changed.');
  return {
    would: `forget the customer ${id}, because nothing at Stripe can charge it any more`,
    about: `customer ${id}`,
    needsYes: true,
    async perform() {
      await deleteLeft(db, found.userId);
      return { data: { closed: id }, text: `The customer ${id} is closed.` };
    },
  };
}
