import {
  lazy,
  Suspense,
  useEffect,
  useRef,
  useSyncExternalStore,
  type FormEvent,
  type KeyboardEvent,
  type Ref,
} from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { drafts } from '../../data/chat-drafts.ts';
import { followKeyboard, hasKeyboard } from '../../data/keyboard.ts';
import { sendsOnEnter } from '../../rules/chat-input.ts';
import { markAttributes } from '../../start/protocol.ts';
import { visuallyHidden } from '../../ui/visually-hidden.ts';
import { composerWords } from '#words/chat';
import { voiceWords } from '#words/voice';
import { voiceStore } from '../../data/voice-store.ts';
import { ComposerNotes } from './composer-notes.tsx';
import { besideField, loadPanel, RecordButton } from './record-button.tsx';
import { SendErrorText, type SendError } from './send-error.tsx';
import { runningWork } from '../../data/running-work.ts';

const VoicePanel = lazy(loadPanel);

type Props = {
  token: string;
  send: (text: string) => boolean;
  error: SendError | null;
  showError: (error: SendError | null) => void;
  openHelp: () => void;
};

export function Composer({ token, send, error, showError, openHelp }: Props) {
  const { text } = useSyncExternalStore(drafts.subscribe, drafts.get, drafts.get);
  const { isRecording, isVoice } = useVoice(token);
  const { field, submit, write } = useWriting({ text, send, error, showError });
  const recordButton = useFocusAfter(isVoice);
  useEffect(() => () => runningWork.stopAll(), []);

  return (
    // A native submission would load the page again.
    <form
      className={form}
      method="dialog"
      data-kept
      onSubmit={submit}
    >
      {error && (
        <SendErrorText
          id="message-error"
          dismiss={() => showError(null)}
          {...{ error, openHelp }}
        />
      )}
      {/* A live region must be there before its text. */}
      <output className={visuallyHidden}>{isRecording ? voiceWords.recording : ''}</output>
      {isVoice ? (
        <Suspense fallback={<output className={panelPlace}>{voiceWords.recording}</output>}>
          <VoicePanel openHelp={openHelp} />
        </Suspense>
      ) : (
        <div className={row}>
          <MessageField
            ref={field}
            {...{ text, error, write, submit }}
          />
          <RecordButton
            ref={recordButton}
            token={token}
            showError={showError}
          />
          <button
            type="submit"
            className={`${button()} ${besideField}`}
          >
            {composerWords.send}
          </button>
        </div>
      )}
      <ComposerNotes
        used={text.length}
        hasField={!isVoice}
      />
    </form>
  );
}

function useVoice(token: string) {
  const voice = useSyncExternalStore(voiceStore.subscribe, voiceStore.get, voiceStore.get);
  const isOwn = voice.token === token;
  const isRecording = isOwn && voice.active !== null;
  return { isRecording, isVoice: isRecording || (isOwn && voice.kept !== null) };
}

type Writing = Pick<Props, 'send' | 'error' | 'showError'> & { text: string };

function useWriting({ text, send, error, showError }: Writing) {
  const field = useRef<HTMLTextAreaElement>(null);
  const wasSent = useRef(false);

  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    sendOnce();
    field.current?.focus();
  };
  const sendOnce = () => {
    // A second tap on an emptied field is no mistake.
    if (text === '' && wasSent.current) return;
    if (!send(text)) return;
    drafts.write('');
    wasSent.current = true;
  };

  const write = (written: string) => {
    drafts.write(written);
    wasSent.current = false;
    if (error) showError(null);
    if (voiceStore.get().problem) voiceStore.set({ problem: null });
  };

  return { field, submit, write };
}

type MessageFieldProps = Pick<Props, 'error'> & {
  ref: Ref<HTMLTextAreaElement>;
  text: string;
  write: (text: string) => void;
  submit: () => void;
};

function MessageField({ ref, text, error, write, submit }: MessageFieldProps) {
  const enterSends = useSyncExternalStore(followKeyboard, hasKeyboard, () => false);
  const descriptions = [error && 'message-error', enterSends && 'message-hint'].filter(Boolean);

  const onKeyDown = (event: KeyboardEvent) => {
    if (!sendsOnEnter(event.nativeEvent, hasKeyboard())) return;
    event.preventDefault();
    // A held key sends once.
    if (!event.repeat) submit();
  };

  return (
    <label className={css({ flex: '[1 1 8rem]', minWidth: '[0]' })}>
      <span className={visuallyHidden}>{composerWords.field}</span>
      <div
        className={grow}
        {...markAttributes({ text: `${text}\n` })}
      >
        <textarea
          ref={ref}
          rows={1}
          value={text}
          placeholder={composerWords.placeholder}
          dir="auto"
          enterKeyHint={enterSends ? 'send' : 'enter'}
          aria-invalid={error && !error.isInformation ? true : undefined}
          aria-describedby={descriptions.join(' ') || undefined}
          onChange={({ target }) => write(target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
    </label>
  );
}

/** After a panel in its place, unless the focus has moved. */
function useFocusAfter(isOpen: boolean) {
  const element = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && document.activeElement === document.body) element.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return element;
}

const form = css({ display: 'grid', gap: '2' });
const row = css({
  display: 'flex',
  flexWrap: 'wrap',
  gap: '2',
  alignItems: 'flex-end',
});
const panelPlace = css({ minHeight: '[3.325rem]' });
/** An invisible copy of the text sets the height. */
const grow = css({
  display: 'grid',
  // Above the keyboard of a turned phone a fifth is less than a line.
  minHeight: '[3.325rem]',
  maxHeight: '[calc(var(--visual-height) / 5)]',
  overflowY: 'auto',
  borderWidth: 'thin',
  borderColor: 'edge',
  borderRadius: 'lg',
  backgroundColor: 'raised',
  _focusWithin: { outline: '3px solid', outlineColor: 'focus', outlineOffset: '[2px]' },
  '&::after, & textarea': {
    gridArea: '1 / 1',
    padding: '3',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
    font: 'inherit',
  },
  '&::after': { content: 'attr(data-text)', visibility: 'hidden' },
  '& textarea': { width: 'full', resize: 'none', overflow: 'hidden', outline: 'none' },
  // Two lines would be cut off.
  '& textarea::placeholder': { whiteSpace: 'nowrap' },
});
