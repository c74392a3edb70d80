import { useEffect, useRef, useState } from 'react';
import type { ChatMessage } from '#contract/chat-schemas';
import { sendingNews, sendingStates, type SendingStates } from '../../rules/sending-news.ts';
import type { PendingMessage } from '../../rules/transcript.ts';
import { messageStateWords } from '#words/chat';
import { visuallyHidden } from '../../ui/visually-hidden.ts';

type Props = { messages: readonly ChatMessage[]; pending: readonly PendingMessage[] };

const words = { failed: messageStateWords.notSent, sent: messageStateWords.sentNow };

/** The list does not announce the user's own messages. */
export function SendingAnnouncer({ messages, pending }: Props) {
  const states = useRef<SendingStates | null>(null);
  const failedBefore = useRef<ReadonlySet<string>>(new Set());
  const [said, setSaid] = useState({ text: '', count: 0 });

  useEffect(() => {
    const now = sendingStates(messages, pending);
    const { news, failed } = sendingNews(states.current ?? now, now, failedBefore.current);
    states.current = now;
    failedBefore.current = failed;
    if (news) setSaid(({ count }) => ({ text: words[news], count: count + 1 }));
  }, [messages, pending]);

  return (
    <output className={visuallyHidden}>
      {/* The same text in the same element is not announced again. */}
      <span key={said.count}>{said.text}</span>
    </output>
  );
}
