import { useState } from 'react';
import { longestMessage } from '#contract/chat-limits';
import { isVisible } from '#contract/visible-text';
import { fetchRecording, sendRecording } from '../../data/api-client.ts';
import { ApiError, markNotified } from '../../data/api-error.ts';
import { conversationStore } from '../../data/conversation-store.ts';
import { drafts } from '../../data/chat-drafts.ts';
import { serverClock } from '../../data/clock.ts';
import type { ShownMessage } from '../../rules/transcript.ts';
import { composerWords } from '#words/chat';
import { plainError, sendError, type SendError } from './send-error.tsx';

type SentDraft = Pick<ShownMessage, 'id' | 'text' | 'voice'>;

export function useSendMessage(token: string, onShown: () => void) {
  const [error, setError] = useState<SendError | null>(null);

  const deliver = async (message: SentDraft) => {
    const { id } = message;
    setError(null);

    try {
      await sendOnce(token, message);
      drafts.remove(id);
    } catch (failure) {
      if (isUncertain(failure)) return drafts.mark(id, 'unsent');
      drafts.giveBack(token, id);
      if (drafts.get().token !== token) return undefined;

      markNotified(failure);
      setError(sendError(failure));
      await conversationStore.refreshAfter(token, failure);
    }
  };

  const begin = ({ id, text, voice }: SentDraft) => {
    const isListed = drafts.get().pending.some((one) => one.id === id);
    if (isListed) drafts.mark(id, 'sending');
    else drafts.add({ id, text, voice, at: serverClock.iso(), state: 'sending' });
    void deliver({ id, text, voice });
  };

  const send = (text: string): boolean => {
    const problem = textProblem(text);
    if (problem !== null) {
      setError(plainError(problem));
      return false;
    }

    begin({ id: crypto.randomUUID(), text, voice: null });
    requestAnimationFrame(onShown);
    return true;
  };

  return { error, showError: setError, send, sendAgain: begin };
}

/** The server takes a refused recording again under its id. */
async function sendOnce(token: string, { id, text, voice }: SentDraft): Promise<void> {
  if (!voice) {
    await conversationStore.send(token, id, text);
    return;
  }

  const recording = await fetchRecording(token, id);
  const { signal } = new AbortController();
  const sent = sendRecording(token, { id, seconds: voice.seconds }, recording, signal);
  await conversationStore.storeSent(token, id, sent);
}

function textProblem(text: string): string | null {
  if (!isVisible(text)) return composerWords.empty;
  return text.length > longestMessage ? composerWords.tooLong : null;
}

/** The server may have it: the same id does not duplicate it. */
function isUncertain(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.isOutage || error.code === 'session_replaced';
}
