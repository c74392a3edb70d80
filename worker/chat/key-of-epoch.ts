import type { Settings } from '../settings.ts';
import type { KeyOfEpoch } from './chat-stream.ts';
import { chatKeyOf, type ChatRow } from './open-conversation.ts';

/** The keys for an open stream: reads the user's row again after the conversation has changed its key. */
export async function keyOfEpoch(
  settings: Settings,
  row: ChatRow,
  readAgain: () => Promise<ChatRow | null>,
): Promise<KeyOfEpoch> {
  let { chatEpoch } = row;
  let key = await chatKeyOf(settings, row);

  return async function keyOf(epoch) {
    if (epoch < chatEpoch) return null;
    if (epoch > chatEpoch || !key) {
      const fresh = await readAgain();
      if (!fresh) return null;
      chatEpoch = fresh.chatEpoch;
      key = await chatKeyOf(settings, fresh);
    }
    return epoch === chatEpoch ? key : null;
  };
}
