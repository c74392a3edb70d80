import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { shownChat } from '../../data/early-start.ts';
import { session } from '../../data/session.ts';
import { useConversation } from '../../data/use-conversation.ts';
import { chatWords, consentVersion } from '../../words/chat.ts';
import { chatFrame } from './chat-frame.tsx';
import { ChatHeader } from './chat-header.tsx';
import { ChatSkeleton, MessagesSkeleton } from './chat-skeleton.tsx';
import { ConversationView } from './conversation-view.tsx';
import { LoadFailed } from './load-failed.tsx';
import { useVisualHeight } from './use-visual-height.ts';

const ConsentStep = lazy(() => import('./consent-step.tsx'));
const HelpDialog = lazy(() => import('./help-dialog.tsx'));

/** The conversation with the companion. Another session renders a new page. */
export function ChatPage() {
  const token = useSyncExternalStore(session.subscribe, userToken, () => shownChat()?.token ?? null);
  return token === null ? <ChatSkeleton /> : <Chat key={token} token={token} />;
}

/** The token of a signed-in user. */
function userToken(): string | null {
  const { token, user } = session.get();
  return user ? token : null;
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
    <section className={chatFrame} aria-labelledby="chat-title">
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

const Loading = () => <MessagesSkeleton label={chatWords.loading} />;
