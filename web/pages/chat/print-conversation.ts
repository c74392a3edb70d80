import { notifyError } from '../../data/api-errors.ts';
import { conversation } from '../../data/chat-conversation.ts';
import { chatWords } from '#words/chat';

/** Prints the whole conversation: the older messages are read first. The reader sees the same messages afterwards. */
export async function printConversation(token: string): Promise<void> {
  const list = document.querySelector('[data-slot=messages]');
  const distance = list ? list.scrollHeight - list.scrollTop : 0;
  try {
    while (conversation.get(token)?.hasMore) await conversation.loadOlder(token);
  } catch (error) {
    return notifyError(error, { fallback: chatWords.loadFailed });
  }
  // React has rendered them after the next paint.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  if (list) list.scrollTop = list.scrollHeight - distance;
  print();
}
