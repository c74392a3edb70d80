import { lazy, Suspense, useState, useRef, useEffect, type RefObject } from 'react';
import { css } from '#styled/css';
import { badge, button } from '#styled/recipes';
import { conversationStore } from '../../data/conversation-store.ts';
import { notifyError, openAfterLoading } from '../../data/error-notices.ts';
import { showToast } from '../../data/toasts.ts';
import { chatWords, clearingWords } from '#words/chat';
import { Icon } from '../../ui/icons.tsx';

const loadDialog = () => import('../../ui/dialog.tsx');
const ConfirmDialog = lazy(loadDialog);

type Props = { token: string; openHelp: () => void; hasConversation: boolean };

const actions = {
  clear: {
    label: clearingWords.clear,
    title: clearingWords.clearTitle,
    text: clearingWords.clearText,
    run: (token: string) => conversationStore.clear(token),
    done: clearingWords.cleared,
    failed: clearingWords.clearFailed,
  },
  withdrawConsent: {
    label: clearingWords.withdraw,
    title: clearingWords.withdrawTitle,
    text: clearingWords.withdrawText,
    run: (token: string) => conversationStore.withdrawConsent(token),
    done: clearingWords.withdrawn,
    failed: clearingWords.withdrawFailed,
  },
} as const;
type Action = keyof typeof actions;
const options = [
  { id: 'clear', label: actions.clear.label },
  { id: 'withdrawConsent', label: actions.withdrawConsent.label },
  { id: 'print', label: chatWords.print },
] as const;
const loadPrint = () => import('./print-conversation.ts');

export function ChatHeader({ token, openHelp, hasConversation }: Props) {
  const [asked, setAsked] = useState<Action | null>(null);

  const run = async (action: Action) => {
    setAsked(null);
    try {
      await actions[action].run(token);
      showToast({ type: 'success', title: actions[action].done });
    } catch (error) {
      notifyError(error, { fallback: actions[action].failed });
    }
  };

  return (
    <header className={bar}>
      <h1
        id="chat-title"
        className={title}
      >
        {chatWords.title}
      </h1>
      {hasConversation && (
        <OptionsMenu
          options={options}
          choose={(option) =>
            option === 'print'
              ? openAfterLoading(loadPrint, (file) => void file.printConversation(token))
              : openAfterLoading(loadDialog, () => setAsked(option))
          }
        />
      )}
      <div className={below}>
        <span className={`${badge()} ${label}`}>{chatWords.label}</span>
        <button
          type="button"
          className={`${button({ look: 'dangerSoft' })} ${help}`}
          onClick={openHelp}
        >
          {chatWords.help}
        </button>
      </div>
      <Suspense>
        {asked && (
          <ConfirmDialog
            close={() => setAsked(null)}
            confirm={() => void run(asked)}
            title={actions[asked].title}
            text={actions[asked].text}
            cancelLabel={clearingWords.cancel}
            confirmLabel={actions[asked].label}
          />
        )}
      </Suspense>
    </header>
  );
}

/** It keeps its place while the conversation loads. */
const bar = css({
  position: 'relative',
  display: 'grid',
  gridTemplateColumns: '[1fr auto 2.75rem]',
  gridTemplateAreas: {
    base: '"title title menu" "below below below"',
    md: '"title help menu" "label help menu"',
  },
  alignItems: 'center',
  columnGap: '2',
  rowGap: '1',
  paddingInline: 'gutter',
  paddingBlock: '2',
  borderBottomWidth: 'thin',
  borderColor: 'line',
});
/** As high as the menu beside it. */
const title = css({
  gridArea: 'title',
  display: 'flex',
  alignItems: 'center',
  minHeight: { base: 'touch', md: 'auto' },
  textStyle: 'subheading',
});
/** Large letters take a line each. */
const below = css({
  gridArea: 'below',
  display: { base: 'flex', md: 'contents' },
  flexWrap: 'wrap',
  alignItems: 'center',
});
const label = css({ gridArea: 'label', marginInlineEnd: 'auto' });
const help = css({ gridArea: 'help', justifySelf: 'end' });

type MenuProps<Id> = { options: readonly { id: Id; label: string }[]; choose: (id: Id) => void };

/** Ark UI's menu would be 18 KiB more. */
function OptionsMenu<Id extends string>({ options, choose }: MenuProps<Id>) {
  const details = useRef<HTMLDetailsElement>(null);
  useDismissal(details);
  return (
    <details
      ref={details}
      className={menu}
    >
      <summary
        className={button({ look: 'quiet', size: 'icon' })}
        aria-label={chatWords.options}
        title={chatWords.options}
      >
        <Icon name="more" />
      </summary>
      <div className={list}>
        {options.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            className={button({ look: 'quiet' })}
            onClick={() => {
              details.current?.removeAttribute('open');
              choose(id);
            }}
          >
            {label}
          </button>
        ))}
      </div>
    </details>
  );
}

const menu = css({
  gridArea: 'menu',
  justifySelf: 'end',
  '& summary': { listStyle: 'none' },
  '& summary::-webkit-details-marker': { display: 'none' },
});
const list = css({
  position: 'absolute',
  // Below the bar, so that help stays in view.
  top: '[100%]',
  insetInlineEnd: 'gutter',
  zIndex: 'header',
  display: 'grid',
  padding: '2',
  borderRadius: 'md',
  borderWidth: 'thin',
  borderColor: 'line',
  backgroundColor: 'raised',
  boxShadow: 'float',
});

type Watcher = EventTarget & { destroy: () => void };

declare global {
  interface Window {
    /** Chromium from 126, Firefox from 149. */
    readonly CloseWatcher?: new () => Watcher;
  }
}

function useDismissal(ref: RefObject<HTMLDetailsElement | null>): void {
  useEffect(() => {
    const details = ref.current;
    if (!details) return undefined;
    const close = () => details.removeAttribute('open');
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !details.contains(target)) close();
    };
    const closeOnEscape = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape' || !details.open) return;
      close();
      details.querySelector('summary')?.focus();
    };
    // A close request, as by Back on Android, would leave the page.
    let watcher: Watcher | undefined;
    const watch = () => {
      watcher?.destroy();
      if (!details.open || !window.CloseWatcher) return;
      watcher = new window.CloseWatcher();
      watcher.addEventListener('close', close);
    };
    const left = new AbortController();
    details.addEventListener('toggle', watch, left);
    document.addEventListener('pointerdown', closeOutside, left);
    document.addEventListener('focusin', closeOutside, left);
    document.addEventListener('keydown', closeOnEscape, left);
    return () => left.abort();
  }, [ref]);
}
