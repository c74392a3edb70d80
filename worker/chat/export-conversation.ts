import { RequestError } from '../lib/request-error.ts';
import type { ExportSection } from '../accounts/user.ts';
import { openMessage } from './message-encryption.ts';
import { chatKeyOf, conversationOf } from './open-conversation.ts';
import type { StoredMessage } from './stored-message.ts';

const messagesPerRead = 500;

/** The whole conversation on the web, oldest message first. Throws 503 if it is cleared during the export. */
export const exportConversation: ExportSection = async ({ user, env, settings }) => {
  const key = await chatKeyOf(settings, user);
  const stored: StoredMessage[] = [];
  for (let before: number | undefined, more = key !== null; more;) {
    const page = await conversationOf(env, user.id).read(user.chatEpoch, before, messagesPerRead);
    if (page.outcome === 'behind') throw new RequestError('unavailable', { retryAfter: 1 });
    stored.unshift(...page.messages);
    before = stored[0]?.seq;
    more = page.hasMore;
  }
  const messages = key ? stored.map((message) => openMessage(key, user.id, message)) : [];
  return { conversation: await Promise.all(messages) };
};
