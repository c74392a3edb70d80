import { phoneTag } from '../../../lib/log.ts';
import { asJson } from '../as-json.ts';
import { callAsUser } from '../as-user.ts';
import { findUser } from '../find-user.ts';
import type { SupportCommand } from '../support-command.ts';

/** Prints the user's export as JSON. It needs no confirmation, but writes an audit line. */
export const exportUser: SupportCommand = {
  usage: 'export NUMBER',
  about: 'prints what "Download My Data" gives the user, the conversation included, as JSON',
  async run(request) {
    const user = await findUser(request.db, request.words[0]);
    return {
      would: `print what is kept about ${user.phone}`,
      about: await phoneTag(request.settings.CODE_PEPPER[0]!, user.phone),
      needsYes: false,
      async perform() {
        const data = await callAsUser(request, user.id, 'GET', '/api/user/export');
        return { data, text: asJson(data) };
      },
    };
  },
};
