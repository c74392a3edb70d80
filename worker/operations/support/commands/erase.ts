import { phoneTag } from '../../../lib/log.ts';
import { callAsUser } from '../as-user.ts';
import { findUser } from '../find-user.ts';
import type { SupportCommand } from '../support-command.ts';

/** Deletes an account through the user's own API call: Stripe first, then the rows, then the bot. */
export const erase: SupportCommand = {
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
        await callAsUser(request, user.id, 'DELETE', '/api/user/me').catch((error: Error) => {
          throw new Error(`The account stays: ${error.message}`, { cause: error });
        });
        return { data: { erased: user.id }, text: `Erased ${account}.` };
      },
    };
  },
};
