import { lazy, Suspense, useState } from 'react';
import { css } from '#styled/css';
import { badge, button } from '#styled/recipes';
import { conversation } from '../../data/conversation.ts';
import { notifyError } from '../../data/error-handler.ts';
import { notify } from '../../data/notices.ts';
import { chatWords, clearingWords } from '../../words/chat.ts';
import { OptionsMenu } from './options-menu.tsx';

const ConfirmDialog = lazy(() => import('../../ui/confirm-dialog.tsx'));

type Props = { token: string; openHelp: () => void; hasConversation: boolean };

const actions = {
  clear: {
    label: clearingWords.clear,
    title: clearingWords.clearTitle,
    text: clearingWords.clearText,
    run: (token: string) => conversation.clear(token),
    done: clearingWords.cleared,
    failed: clearingWords.clearFailed,
  },
  withdraw: {
    label: clearingWords.withdraw,
    title: clearingWords.withdrawTitle,
    text: clearingWords.withdrawText,
    run: (token: string) => conversation.withdraw(token),
    done: clearingWords.withdrawn,
    failed: clearingWords.withdrawFailed,
  },
} as const;
type Action = keyof typeof actions;
const options = (['clear', 'withdraw'] as const).map((id) => ({ id, label: actions[id].label }));

/** The header of the conversation: the AI notice and the help button, always visible. */
export function ChatHeader({ token, openHelp, hasConversation }: Props) {
  const [asked, setAsked] = useState<Action | null>(null);

  const run = async (action: Action) => {
    setAsked(null);
    try {
      await actions[action].run(token);
      notify({ type: 'success', title: actions[action].done });
    } catch (error) {
      notifyError(error, { fallback: actions[action].failed });
    }
  };

  return (
    <header className={bar}>
      <h1 id="chat-title" className={title}>
        {chatWords.title}
      </h1>
      <span className={`${badge()} ${label}`}>{chatWords.label}</span>
      {hasConversation && <OptionsMenu options={options} choose={setAsked} />}
      <button
        type="button"
        className={`${button({ look: 'dangerSoft' })} ${help}`}
        data-opens="help"
        onClick={openHelp}
      >
        {chatWords.help}
      </button>
      <Suspense>
        {asked && (
          <ConfirmDialog
            isOpen
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

const bar = css({
  position: 'relative',
  display: 'grid',
  gridTemplateColumns: '1fr auto',
  gridTemplateAreas: { base: '"title menu" "label help"', md: '"title help menu" "label help menu"' },
  alignItems: 'center',
  columnGap: '2',
  rowGap: '1',
  paddingInline: 'gutter',
  paddingBlock: '2',
  borderBottomWidth: 'thin',
  borderColor: 'line',
  // The menu keeps its place while the conversation is loading.
  md: { gridTemplateColumns: '[1fr auto 2.75rem]' },
});
/** As high as the menu beside it, which comes with the conversation. */
const title = css({
  gridArea: 'title',
  display: 'flex',
  alignItems: 'center',
  minHeight: { base: 'touch', md: 'auto' },
  textStyle: 'subheading',
});
const label = css({ gridArea: 'label' });
const help = css({ gridArea: 'help' });
