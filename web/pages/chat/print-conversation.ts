import { notifyError } from '../../data/error-toasts.ts';
import { conversationStore } from '../../data/conversation-store.ts';
import { messageList } from '../../start/protocol.ts';
import { chatWords } from '#words/chat';

/** Older messages are read first; the reader keeps their place. */
export async function printConversation(token: string): Promise<void> {
  const list = document.querySelector(messageList);
  const distance = list ? list.scrollHeight - list.scrollTop : 0;
  try {
    while (conversationStore.get(token)?.hasMore) await conversationStore.loadOlder(token);
  } catch (error) {
    return notifyError(error, { fallback: chatWords.loadFailed });
  }
  // React renders them with the next paint.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  if (list) list.scrollTop = list.scrollHeight - distance;
  print();
}
