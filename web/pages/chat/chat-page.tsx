import { lazy, Suspense, useEffect, useState } from 'react';
import { css } from '#styled/css';
import { useConversation } from '../../data/use-conversation.ts';
import { useSession } from '../../data/use-session.ts';
import { chatWords, consentVersion } from '../../words/chat.ts';
import { ChatHeader } from './chat-header.tsx';
import { ChatSkeleton } from './chat-skeleton.tsx';
import { ConversationView } from './conversation-view.tsx';
import { LoadFailed } from './load-failed.tsx';
import { useVisualHeight } from './use-visual-height.ts';

const ConsentStep = lazy(() => import('./consent-step.tsx'));
const HelpDialog = lazy(() => import('./help-dialog.tsx'));

/** The conversation with the companion. Another session renders a new page. */
export function ChatPage() {
  const token = useSession((session) => session.token);
  const hasUser = useSession(({ user }) => user !== null);
  return token && hasUser ? <Chat key={token} token={token} /> : <ChatSkeleton />;
}

function Chat({ token }: { token: string }) {
  const { conversation, isFailed, retry, isLive } = useConversation(token);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useVisualHeight();
  // Loaded early, so that the help panel opens even if the connection is lost later.
  useEffect(() => void import('./help-dialog.tsx').catch(() => null), []);
  const openHelp = () => setHelpOpen(true);
  const hasConsented = conversation?.consent?.version === consentVersion;
  return (
    <section className={frame} aria-labelledby="chat-title">
      <ChatHeader token={token} openHelp={openHelp} hasConversation={hasConsented} />
      {!conversation && (isFailed ? <LoadFailed retry={retry} /> : <Loading />)}
      <Suspense fallback={<Loading />}>{conversation && !hasConsented && <ConsentStep token={token} />}</Suspense>
      {conversation && hasConsented && (
        <ConversationView token={token} conversation={conversation} isLive={isLive} openHelp={openHelp} />
      )}
      <Suspense>{isHelpOpen && <HelpDialog close={() => setHelpOpen(false)} />}</Suspense>
    </section>
  );
}

const Loading = () => <output className={css({ margin: 'auto', color: 'muted' })}>{chatWords.loading}</output>;

/** Fills the screen below the page's header; on very low screens the page scrolls instead. */
const frame = css({
  display: 'flex',
  flexDirection: 'column',
  width: 'full',
  maxWidth: '[52rem]',
  marginInline: 'auto',
  height: '[calc(var(--visual-height, 100dvh) - 4.25rem)]',
  minHeight: '[20rem]',
  '@media (max-height: 26rem)': { height: 'auto' },
});
