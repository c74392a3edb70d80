import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { conversation as store } from '../../data/chat-conversation.ts';
import { notifyError } from '../../data/api-errors.ts';
import { shownChat } from '../../data/early-start.ts';
import type { Conversation } from '../../rules/conversation-changes.ts';
import {
  shownMessages,
  type PendingMessage,
  type ShownMessage,
  transcriptParts,
  type TranscriptItem,
} from '../../rules/transcript.ts';
import { chatWords } from '#words/chat';
import { TranscriptLine } from './transcript-line.tsx';

type Props = {
  token: string;
  conversation: Conversation;
  pending: readonly PendingMessage[];
  sendAgain: (id: string, text: string) => void;
  openHelp: () => void;
  keepPosition: (change: () => Promise<void>) => Promise<void>;
};

/**
 * Loaded messages, then new ones. Only the second list is a live region, so screen readers do not announce the history.
 */
export function MessageList({ token, conversation, pending, sendAgain, openHelp, keepPosition }: Props) {
  const [openedAt] = useState(() => shownChat()?.openedAt ?? Date.now());
  const shown = shownMessages(conversation.messages, pending);
  const { history, live } = transcriptParts(shown, conversation.loadedUpTo, openedAt);
  const line = (item: TranscriptItem<ShownMessage>) => (
    <TranscriptLine key={item.key} item={item} sendAgain={sendAgain} openHelp={openHelp} />
  );
  return (
    <>
      {conversation.hasMore && <LoadOlder load={() => keepPosition(() => store.loadOlder(token))} />}
      {shown.length === 0 && <p className={empty}>{chatWords.empty}</p>}
      <ol className={list} aria-label={chatWords.earlier} data-slot="history">
        {history.map(line)}
      </ol>
      <div role="log" aria-label={chatWords.live} className={css({ marginTop: '3' })}>
        <ol className={list} data-slot="live">
          {live.map(line)}
        </ol>
      </div>
    </>
  );
}

function LoadOlder({ load }: { load: () => Promise<void> }) {
  const [isLoading, setLoading] = useState(false);
  const run = async () => {
    if (isLoading) return;
    setLoading(true);
    await load().catch((error: unknown) => notifyError(error, { fallback: chatWords.loadFailed }));
    setLoading(false);
  };
  return (
    <button
      type="button"
      className={`${button({ look: 'outline' })} ${older}`}
      data-slot="older"
      onClick={() => void run()}
      aria-disabled={isLoading}
    >
      {isLoading ? chatWords.loadingOlder : chatWords.loadOlder}
    </button>
  );
}

const list = css({ display: 'flex', flexDirection: 'column', gap: '3' });
const older = css({ display: 'flex', marginInline: 'auto', marginBottom: '4' });
const empty = css({ marginBlock: '6', color: 'muted', textAlign: 'center' });
