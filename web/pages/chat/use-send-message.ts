import { useState } from 'react';
import { longestMessage } from '#contract/chat-limits';
import { ApiError } from '../../data/api-error.ts';
import { conversation } from '../../data/conversation.ts';
import { drafts } from '../../data/pending-messages.ts';
import { composerWords } from '../../words/chat.ts';

/** Why a message was not sent: `spent` leads to the plans. */
export type SendError = { text: string; isSpent: boolean };

/**
 * Sends messages. A message shows at once; a refused text returns to the field; an unsent message can be sent again.
 */
export function useSendMessage(token: string, onShown: () => void) {
  const [error, setError] = useState<SendError | null>(null);

  const deliver = async (id: string, text: string) => {
    setError(null);
    try {
      await conversation.send(token, id, text);
      drafts.remove(id);
    } catch (failure) {
      if (isUncertain(failure)) return drafts.mark(id, 'unsent');
      drafts.remove(id);
      if (drafts.get().text === '') drafts.write(text);
      setError(sendError(failure));
      await conversation.refreshAfter(token, failure);
    }
  };

  /** Returns whether the text was accepted from the field. */
  const send = (text: string): boolean => {
    const problem = problemOf(text);
    if (problem) setError({ text: problem, isSpent: false });
    if (problem) return false;
    const id = crypto.randomUUID();
    drafts.add({ id, text, at: new Date().toISOString(), state: 'sending' });
    requestAnimationFrame(onShown);
    void deliver(id, text);
    return true;
  };

  const sendAgain = (id: string, text: string): void => {
    if (!drafts.get().pending.some((one) => one.id === id))
      drafts.add({ id, text, at: new Date().toISOString(), state: 'sending' });
    drafts.mark(id, 'sending');
    void deliver(id, text);
  };

  const clearError = () => setError(null);
  return { error, clearError, send, sendAgain };
}

function problemOf(text: string): string | null {
  if (text.trim() === '') return composerWords.empty;
  return text.length > longestMessage ? composerWords.tooLong : null;
}

/** The server may have stored the message: sending the same id again does not duplicate it. */
function isUncertain(error: unknown): boolean {
  return !(error instanceof ApiError) || error.isOutage;
}

function sendError(error: unknown): SendError {
  const { code, notice } = error instanceof ApiError ? error : { code: null, notice: null };
  if (error instanceof ApiError) error.isNotified = true;
  if (code === 'allowance_spent') return { text: composerWords.spent, isSpent: true };
  if (code === 'rate_limited') return { text: composerWords.tooFast, isSpent: false };
  return { text: notice ?? composerWords.failed, isSpent: false };
}
