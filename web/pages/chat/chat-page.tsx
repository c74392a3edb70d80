import { basePath } from '#words/language';
import { Suspense, useEffect, useState } from 'react';
import { useSession } from '../../data/session.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { useChatToken, useConversation } from '../../data/use-conversation.ts';
import { consentVersion } from '#contract/chat-limits';
import { chatWords } from '#words/chat';
import { ChatHeader } from './chat-header.tsx';
import { ConversationView } from './conversation-view.tsx';
import { css } from '#styled/css';
import { skeleton, button, link } from '#styled/recipes';
import { footerWords, layoutWords } from '#words/layout';
import { Alert } from '../../ui/alert.tsx';

const ConsentStep = lazyWithFallback(() => import('./consent-step.tsx'), ReloadStep);
const HelpDialog = lazyWithFallback(() => import('./help-dialog.tsx'), HelpLink);

/** Another session renders a new page. */
export function ChatPage() {
  const token = useChatToken();
  return token === null ? (
    <ChatSkeleton />
  ) : (
    <Chat
      key={token}
      token={token}
    />
  );
}

function Chat({ token }: { token: string }) {
  const { conversation, isFailed, retry } = useConversation(token);
  const [isHelpOpen, setHelpOpen] = useState(false);

  useVisualHeight();
  // Opens even if the connection is lost later.
  useEffect(() => void import('./help-dialog.tsx').catch(() => null), []);

  const openHelp = () => setHelpOpen(true);
  const hasConsented = conversation?.consent?.version === consentVersion;

  return (
    <section
      className={chatColumn}
      aria-labelledby="chat-title"
    >
      <ChatHeader
        token={token}
        openHelp={openHelp}
        hasConversation={hasConsented}
      />
      {!conversation && (isFailed ? <LoadFailed retry={retry} /> : <Loading />)}
      <Suspense fallback={<Loading />}>
        {conversation && !hasConsented && <ConsentStep token={token} />}
      </Suspense>
      {conversation && hasConsented && (
        <ConversationView
          token={token}
          conversation={conversation}
          openHelp={openHelp}
        />
      )}
      <Suspense>{isHelpOpen && <HelpDialog close={() => setHelpOpen(false)} />}</Suspense>
    </section>
  );
}

/** The conversation stays if the dialog does not load. */
function HelpLink() {
  return (
    <Alert look="danger">
      <a
        href={`${basePath}/help-now`}
        className={link()}
      >
        {footerWords.help}
      </a>
    </Alert>
  );
}

const Loading = () => <MessagesSkeleton label={layoutWords.loadingConversation} />;

function ChatSkeleton() {
  const isInitializing = useSession((session) => session.isInitializing);
  return (
    <section
      className={chatColumn}
      aria-labelledby="chat-title"
      aria-busy="true"
    >
      <ChatHeader
        token=""
        openHelp={() => location.assign(`${basePath}/help-now`)}
        hasConversation={false}
      />
      <MessagesSkeleton
        label={isInitializing ? layoutWords.loadingApplication : layoutWords.loadingConversation}
      />
    </section>
  );
}

function MessagesSkeleton({ label }: { label: string }) {
  return (
    <div className={body}>
      <output className={css({ color: 'muted' })}>{label}</output>
      <div
        className={css({ display: 'grid', gap: '4', marginTop: 'auto' })}
        aria-hidden="true"
      >
        <span className={`${skeleton()} ${theirs}`} />
        <span className={`${skeleton()} ${ours}`} />
        <span className={`${skeleton()} ${theirs}`} />
        <span className={`${skeleton()} ${field}`} />
      </div>
    </div>
  );
}

const body = css({
  flex: '1',
  display: 'flex',
  flexDirection: 'column',
  paddingInline: 'gutter',
  paddingBlock: '4',
});
const theirs = css({
  width: '[60%]',
  height: '[4.5rem]',
  borderRadius: 'lg',
});
const ours = css({
  width: '[45%]',
  height: '[3rem]',
  borderRadius: 'lg',
  marginInlineStart: 'auto',
});
const field = css({
  width: 'full',
  height: '[3.25rem]',
  borderRadius: 'lg',
  marginTop: '4',
});

function ReloadStep() {
  return <LoadFailed retry={() => location.reload()} />;
}

function LoadFailed({ retry }: { retry: () => void }) {
  return (
    <div
      className={css({
        display: 'grid',
        gap: '4',
        justifyItems: 'center',
        margin: 'auto',
        padding: 'gutter',
      })}
    >
      <Alert look="danger">{chatWords.loadFailed}</Alert>
      <button
        type="button"
        className={button({ look: 'soft' })}
        onClick={retry}
      >
        {chatWords.tryAgain}
      </button>
    </div>
  );
}

/** After an event: WebKit reports it early (WebKit 254861). */
const heightReadsMs = [0, 50, 150, 400, 1000];

/** Sets the height that the keyboard leaves. A zoomed page has the window's height. */
function useVisualHeight(): void {
  useEffect(() => {
    const viewport = window.visualViewport;
    if (!viewport) return undefined;

    const { style } = document.documentElement;
    let timers: ReturnType<typeof setTimeout>[] = [];

    const update = () => {
      if (viewport.scale === 1) style.setProperty('--visual-height', `${viewport.height}px`);
      else style.removeProperty('--visual-height');
    };

    const updateSoon = () => {
      timers.forEach(clearTimeout);
      update();
      timers = heightReadsMs.map((delay) => setTimeout(update, delay));
    };

    updateSoon();
    const sources: [EventTarget, string[]][] = [
      [viewport, ['resize', 'scroll']],
      [window, ['resize', 'pageshow', 'focusin', 'focusout']],
    ];

    const listening = new AbortController();
    for (const [source, names] of sources)
      for (const name of names) source.addEventListener(name, updateSoon, listening);

    return () => {
      timers.forEach(clearTimeout);
      listening.abort();
      style.removeProperty('--visual-height');
    };
  }, []);
}

/** The page scrolls where its parts have no room. */
const chatColumn = css({
  display: 'flex',
  flexDirection: 'column',
  width: 'full',
  maxWidth: '[52rem]',
  marginInline: 'auto',
  minHeight: '[calc(var(--visual-height) - 4.25rem)]',
  _print: { display: 'block', maxWidth: '[none]' },
});
