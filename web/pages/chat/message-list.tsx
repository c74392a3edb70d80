import { Suspense, useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { conversationStore } from '../../data/conversation-store.ts';
import { useOpenedAt } from '../../data/use-conversation.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { useAction } from '../../data/use-action.ts';
import { useDay } from './day-change.ts';
import type { Conversation } from '../../rules/conversation-changes.ts';
import {
  shownMessages,
  type PendingMessage,
  type ShownMessage,
  transcriptParts,
  type TranscriptItem,
  withReminders,
} from '../../rules/transcript.ts';
import { chatWords } from '#words/chat';
import { useReminder } from './conversation-effects.ts';
import { TranscriptLine, VoicePlace } from './transcript-line.tsx';

const VoiceMessage = lazyWithFallback(() => import('./voice-message.tsx'), VoicePlace);

type Props = {
  token: string;
  conversation: Conversation;
  pending: readonly PendingMessage[];
  sendAgain: (message: ShownMessage) => void;
  openHelp: () => void;
  keepPosition: (change: () => Promise<void>) => Promise<void>;
  reminders: readonly string[];
  remind: () => void;
};

/** Only the second list is live: the history is not announced. */
export function MessageList({
  token,
  conversation,
  pending,
  sendAgain,
  openHelp,
  keepPosition,
  reminders,
  remind,
}: Props) {
  const { history, live, isEmpty } = useTranscript({ conversation, pending, reminders, remind });
  const player = (message: ShownMessage) => (
    <VoicePlayer
      token={token}
      message={message}
    />
  );
  const line = (item: TranscriptItem<ShownMessage>) => (
    <TranscriptLine
      key={item.key}
      item={item}
      sendAgain={sendAgain}
      openHelp={openHelp}
      player={player}
    />
  );
  return (
    <>
      {conversation.hasMore && <p className={onPaper}>{chatWords.printMore}</p>}
      {conversation.hasMore && (
        <LoadOlder load={() => keepPosition(() => conversationStore.loadOlder(token))} />
      )}
      {isEmpty && <p className={empty}>{chatWords.empty}</p>}
      <ol
        className={list}
        aria-label={chatWords.earlier}
      >
        {history.map(line)}
      </ol>
      <div
        role="log"
        aria-label={chatWords.live}
        className={css({ marginTop: '3' })}
      >
        <ol
          className={list}
          data-slot="live"
        >
          {live.map(line)}
        </ol>
      </div>
    </>
  );
}

type Shown = Pick<Props, 'conversation' | 'pending' | 'reminders' | 'remind'>;

/** Returns the two parts of the transcript. Shows the AI notice again when it is due. */
function useTranscript({ conversation, pending, reminders, remind }: Shown) {
  const openedAt = useOpenedAt();
  const shown = shownMessages(conversation.messages, pending);
  const { history, live: arrived } = transcriptParts(shown, conversation.loadedUpTo, openedAt);
  const live = withReminders(arrived, reminders);

  const items = [...history, ...live];
  const notice = items.findLast((item) => item.kind === 'aiNotice')!;
  const isLast = notice === items.at(-1);
  useReminder(isLast ? null : notice.at, remind);
  useDay();
  return { history, live, isEmpty: shown.length === 0 };
}

/** The served frame has only its place. */
function VoicePlayer({ token, message }: { token: string; message: ShownMessage }) {
  const hasStarted = useSyncExternalStore(
    () => () => {},
    () => true,
    () => false,
  );
  if (!hasStarted) return <VoicePlace />;
  return (
    <Suspense fallback={<VoicePlace />}>
      <VoiceMessage
        token={token}
        message={message}
      />
    </Suspense>
  );
}

function LoadOlder({ load }: { load: () => Promise<void> }) {
  const [isBusy, run] = useAction();
  return (
    <button
      type="button"
      className={`${button({ look: 'outline' })} ${older}`}
      onClick={() => run(load, { fallback: chatWords.loadFailed })}
      aria-disabled={isBusy}
    >
      {isBusy ? chatWords.loadingOlder : chatWords.loadOlder}
    </button>
  );
}

const list = css({ display: 'flex', flexDirection: 'column', gap: '3' });
const onPaper = css({ display: 'none', _print: { display: 'block' } });
const older = css({
  display: 'flex',
  marginInline: 'auto',
  marginBottom: '4',
});
const empty = css({ marginBlock: '6', color: 'muted', textAlign: 'center' });
