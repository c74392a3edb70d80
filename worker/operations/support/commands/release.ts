import { clearPhoneRateLimits } from '../../../accounts/phone.ts';
import { phoneTag } from '../../../lib/log.ts';
import { phoneOf } from '../find-user.ts';
import type { SupportCommand } from '../support-command.ts';

/**
 * Clears the limits on codes and wrong tries of a number. Limits of network addresses stay, since several users may
 * share one.
 */
export const release: SupportCommand = {
  usage: 'release NUMBER --yes',
  about: 'clears the sign-in limits of the number, so that it can get a code at once',
  async run({ words, db, settings }) {
    const phone = phoneOf(words[0]);
    return {
      would: `clear the limits on codes and wrong tries of ${phone}`,
      about: await phoneTag(settings.CODE_PEPPER[0]!, phone),
      needsYes: false,
      async perform() {
        const { rowsAffected } = await db.run(clearPhoneRateLimits(phone));
        return {
          data: { cleared: rowsAffected },
          text: `Cleared ${rowsAffected} counted codes and wrong tries of ${phone}.`,
        };
      },
    };
  },
};
