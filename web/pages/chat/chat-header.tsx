import { lazy, Suspense, useState } from 'react';
import { css } from '#styled/css';
import { badge, button } from '#styled/recipes';
import { conversationStore } from '../../data/conversation-store.ts';
import { notifyError, openAfterLoading } from '../../data/error-toasts.ts';
import { showToast } from '../../data/toasts.ts';
import { chatWords, clearingWords } from '#words/chat';
import { OptionsMenu } from './options-menu.tsx';

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

  const choose = (option: Action | 'print') => {
    if (option !== 'print') return openAfterLoading(loadDialog, () => setAsked(option));
    return openAfterLoading(loadPrint, (file) => void file.printConversation(token));
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
          choose={choose}
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

/** Keeps its place while the conversation loads. */
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
