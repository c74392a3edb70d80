import { staleEpochError, chatKeyOf, conversationOf } from '../../chat/open-conversation.ts';
import { openMessage } from '../../chat/message-encryption.ts';
import type { Handler } from '../../http/handler.ts';
import { consentOf } from '../../chat/consent.ts';

export const getChat: Handler<'getChat'> = async ({ session, query, ...context }) =>
  session.run([], async (user) => {
    const key = await chatKeyOf(context.settings, user);
    const page = await conversationOf(context.env, user.id).read(user.chatEpoch, query.before, query.limit);
    if (page.outcome === 'behind') throw staleEpochError(context, user, page);
    const messages = key ? page.messages.map((message) => openMessage(key, user.id, message)) : [];
    return {
      success: true,
      revision: page.revision,
      messages: await Promise.all(messages),
      hasMore: page.hasMore,
      typingUntil: page.typingUntil === null ? null : new Date(page.typingUntil).toISOString(),
      consent: consentOf(user),
    };
  });
