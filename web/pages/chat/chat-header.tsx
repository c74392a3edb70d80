import { lazy, Suspense, useState } from 'react';
import { css } from '#styled/css';
import { badge, button } from '#styled/recipes';
import { conversation } from '../../data/conversation.ts';
import { notifyError } from '../../data/error-handler.ts';
import { notify } from '../../data/notices.ts';
import { Icon } from '../../ui/icon.tsx';
import { chatWords, clearingWords } from '../../words/chat.ts';

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
      {hasConversation && <Menu choose={setAsked} />}
      <button type="button" className={`${button({ look: 'dangerSoft' })} ${help}`} onClick={openHelp}>
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

function Menu({ choose }: { choose: (action: Action) => void }) {
  return (
    <details className={menu}>
      <summary
        className={button({ look: 'quiet', size: 'icon' })}
        aria-label={chatWords.options}
        title={chatWords.options}
      >
        <Icon name="more" />
      </summary>
      <div className={list}>
        {(['clear', 'withdraw'] as const).map((action) => (
          <button
            key={action}
            type="button"
            className={button({ look: 'quiet' })}
            onClick={({ currentTarget }) => {
              currentTarget.closest('details')?.removeAttribute('open');
              choose(action);
            }}
          >
            {actions[action].label}
          </button>
        ))}
      </div>
    </details>
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
  md: { gridTemplateColumns: '1fr auto auto' },
});
const title = css({ gridArea: 'title', textStyle: 'subheading' });
const label = css({ gridArea: 'label' });
const help = css({ gridArea: 'help' });
const menu = css({
  gridArea: 'menu',
  justifySelf: 'end',
  '& summary': { listStyle: 'none' },
  '& summary::-webkit-details-marker': { display: 'none' },
});
const list = css({
  position: 'absolute',
  // Below the whole bar, so that the help button stays visible.
  top: '[100%]',
  insetInlineEnd: 'gutter',
  zIndex: 'header',
  display: 'grid',
  width: '[max-content]',
  padding: '2',
  borderRadius: 'md',
  borderWidth: 'thin',
  borderColor: 'line',
  backgroundColor: 'raised',
  boxShadow: 'float',
});
