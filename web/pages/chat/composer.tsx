import { useRef, useSyncExternalStore, type FormEvent, type KeyboardEvent } from 'react';
import { longestMessage } from '#contract/chat-limits';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { drafts } from '../../data/pending-messages.ts';
import { sendsOnEnter } from '../../rules/sends-on-enter.ts';
import { visuallyHidden } from '../../ui/visually-hidden.tsx';
import { composerWords } from '../../words/chat.ts';
import { Allowance } from './allowance.tsx';
import { SendErrorText } from './send-error-text.tsx';
import type { SendError } from './use-send-message.ts';

/** The counter appears when this share of the limit is used. */
const counterFrom = 0.8 * longestMessage;

type Props = {
  send: (text: string) => boolean;
  error: SendError | null;
  clearError: () => void;
  openHelp: () => void;
};

/** The message field. It keeps the focus after sending, and the text until it is sent. */
export function Composer({ send, error, clearError, openHelp }: Props) {
  const { text } = useSyncExternalStore(drafts.subscribe, drafts.get, drafts.get);
  const field = useRef<HTMLTextAreaElement>(null);

  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (send(text)) drafts.write('');
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (sendsOnEnter(event.nativeEvent)) {
      event.preventDefault();
      submit();
    }
  };

  return (
    // No native submission, which would load the page again if the app has not started yet.
    <form className={form} method="dialog" onSubmit={submit}>
      {error && <SendErrorText id="message-error" error={error} openHelp={openHelp} />}
      <div className={row}>
        <label className={css({ flex: '1', minWidth: '[0]' })}>
          <span className={visuallyHidden}>{composerWords.field}</span>
          <div className={grow} data-text={`${text}\n`}>
            <textarea
              ref={field}
              rows={1}
              value={text}
              placeholder={composerWords.placeholder}
              enterKeyHint="send"
              aria-invalid={error ? true : undefined}
              aria-describedby={error ? 'message-error message-hint' : 'message-hint'}
              onChange={({ target }) => {
                drafts.write(target.value);
                if (error) clearError();
              }}
              onKeyDown={onKeyDown}
            />
          </div>
        </label>
        <button type="submit" className={`${button()} ${sendButton}`}>
          {composerWords.send}
        </button>
      </div>
      <div className={below}>
        <Allowance />
        <Counter used={text.length} />
        <span id="message-hint" className={hint}>
          {composerWords.hint}
        </span>
      </div>
    </form>
  );
}

function Counter({ used }: { used: number }) {
  const left = longestMessage - used;
  return (
    <output className={left < 0 ? over : undefined}>
      {used >= counterFrom && (left < 0 ? composerWords.over(-left) : composerWords.left(left))}
    </output>
  );
}

const form = css({ display: 'grid', gap: '2' });
const row = css({ display: 'flex', gap: '2', alignItems: 'flex-end' });
/** As high as the field with one line. */
const sendButton = css({ minHeight: '[3.325rem]' });
const over = css({ fontWeight: 'semibold', color: 'danger' });
const below = css({ display: 'flex', flexWrap: 'wrap', columnGap: '4', textStyle: 'fine', color: 'muted' });
const hint = css({ marginInlineStart: { base: '0', md: 'auto' }, '@media (pointer: coarse)': { display: 'none' } });

const sameText = {
  gridArea: '1 / 1',
  padding: '3',
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
  font: 'inherit',
} as const;
/** The field grows with its text: an invisible copy of the text determines the height. */
const grow = css({
  display: 'grid',
  maxHeight: '[min(12rem, 40vh)]',
  overflowY: 'auto',
  borderWidth: 'thin',
  borderColor: 'edge',
  borderRadius: 'lg',
  backgroundColor: 'raised',
  _focusWithin: { outline: '3px solid', outlineColor: 'focus', outlineOffset: '[2px]' },
  '&::after': { ...sameText, content: 'attr(data-text)', visibility: 'hidden' },
  '& textarea': { ...sameText, width: 'full', resize: 'none', overflow: 'hidden', outline: 'none' },
});
