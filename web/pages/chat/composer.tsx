import type { MicrophoneProblem } from '../../rules/recording.ts';
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
import { longestMessage } from '#contract/chat-limits';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { drafts } from '../../data/chat-drafts.ts';
import { likelyKeyboard, sendsOnEnter } from '../../rules/browser-input.ts';
import { visuallyHidden } from '../../ui/external-link.tsx';
import { composerWords } from '#words/chat';
import { errorWords } from '#words/page-errors';
import { voiceWords } from '#words/voice';
import { noRecording, voiceStore } from '../../data/voice-store.ts';
import { loaded } from '../../data/within.ts';
import { Icon } from '../../ui/icons.tsx';
import { SendErrorText, voiceNotInPlan, type SendError } from './send-error.tsx';
import { planOf } from '#contract/plans';
import { Link } from '@tanstack/react-router';
import { useStanding } from '../../data/instants.ts';
import { useSession } from '../../data/session.ts';
import { dayAndTimeText } from '../../rules/moments.ts';
import { untilWords } from '#words/until';
import { started } from '../../data/started.ts';

const loadPanel = () => import('./voice-panel.tsx');
const VoicePanel = lazy(loadPanel);

const loadVoice = () => loaded(import('../../data/voice-draft.ts'));

async function record(token: string): Promise<void> {
  const file = await loadVoice().catch(() => null);
  if (file) return file.voiceDraft.start(token, loadPanel);
  voiceStore.set({ ...noRecording, token, problem: 'network' });
}

/** The counter appears when this share of the limit is used. */
const counterFrom = 0.8 * longestMessage;

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
  const field = useRef<HTMLTextAreaElement>(null);
  const recordButton = useFocusAfter(isVoice);
  const { submit, noteWritten } = useSubmit(text, send);
  useEffect(() => () => started.stopAll(), []);

  const submitAndStay = (event?: FormEvent) => {
    event?.preventDefault();
    submit();
    field.current?.focus();
  };
  const write = (written: string) => {
    drafts.write(written);
    noteWritten();
    if (error) showError(null);
  };

  return (
    // No native submission, which would load the page again if the app has not started yet.
    <form
      className={form}
      method="dialog"
      data-kept
      onSubmit={submitAndStay}
    >
      {error && (
        <SendErrorText
          id="message-error"
          withdraw={() => showError(null)}
          {...{ error, openHelp }}
        />
      )}
      {/* It is there before the panel, because a live region that comes with its text is not announced. */}
      <output className={visuallyHidden}>{isRecording ? voiceWords.recording : ''}</output>
      {isVoice ? (
        <Suspense fallback={<output className={panelPlace}>{voiceWords.recording}</output>}>
          <VoicePanel openHelp={openHelp} />
        </Suspense>
      ) : (
        <div className={row}>
          <MessageField
            ref={field}
            {...{ text, error, write }}
            submit={submitAndStay}
          />
          <RecordButton
            ref={recordButton}
            token={token}
            showError={showError}
          />
          <button
            type="submit"
            className={`${button()} ${sendButton}`}
          >
            {composerWords.send}
          </button>
        </div>
      )}
      <div className={below}>
        <Allowance />
        <Counter used={text.length} />
        {!isVoice && (
          <span
            id="message-hint"
            className={hint}
          >
            {composerWords.hint}
          </span>
        )}
      </div>
    </form>
  );
}

/** Whether a recording is made, or is there to be sent. */
function useVoice(token: string) {
  const voice = useSyncExternalStore(voiceStore.subscribe, voiceStore.get, voiceStore.get);
  const isOwn = voice.token === token;
  const isRecording = isOwn && voice.active !== null;
  return { isRecording, isVoice: isRecording || (isOwn && voice.kept !== null) };
}

/** Sends the text. A second tap on a field that is empty because its text was sent is no mistake. */
function useSubmit(text: string, send: (text: string) => boolean) {
  const wasSent = useRef(false);
  const submit = () => {
    if (text === '' && wasSent.current) return;
    if (!send(text)) return;
    drafts.write('');
    wasSent.current = true;
  };
  const noteWritten = () => {
    wasSent.current = false;
  };
  return { submit, noteWritten };
}

type FieldProps = Pick<Props, 'error'> & {
  ref: Ref<HTMLTextAreaElement>;
  text: string;
  write: (text: string) => void;
  submit: () => void;
};

function MessageField({ ref, text, error, write, submit }: FieldProps) {
  const enterSends = useSyncExternalStore(followKeyboard, hasKeyboard, () => false);
  const descriptions = [error && 'message-error', enterSends && 'message-hint'].filter(Boolean);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!sendsOnEnter(event.nativeEvent)) return;
    event.preventDefault();
    // A key that is held sends once.
    if (!event.repeat) submit();
  };
  return (
    <label className={css({ flex: '[1 1 8rem]', minWidth: '[0]' })}>
      <span className={visuallyHidden}>{composerWords.field}</span>
      <div
        className={grow}
        data-text={`${text}\n`}
      >
        <textarea
          ref={ref}
          rows={1}
          value={text}
          placeholder={composerWords.placeholder}
          dir="auto"
          enterKeyHint={enterSends ? 'send' : 'enter'}
          aria-invalid={error && !error.isNotice ? true : undefined}
          aria-describedby={descriptions.join(' ') || undefined}
          onChange={({ target }) => write(target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
    </label>
  );
}

/** An element that gets the focus after a panel in its place, unless the person has moved it meanwhile. */
function useFocusAfter(isOpen: boolean) {
  const element = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && document.activeElement === document.body) element.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return element;
}

type RecordButtonProps = Pick<Props, 'token' | 'showError'> & { ref: Ref<HTMLButtonElement> };

/** Starts a recording; without voice in the plan it says so and leads to the plans. */
function RecordButton({ ref, token, showError }: RecordButtonProps) {
  const tier = useSession(({ user }) => user?.metadata.subscriptionTier ?? null);
  const { problem, isAsking } = useSyncExternalStore(
    voiceStore.subscribe,
    voiceStore.get,
    voiceStore.get,
  );
  // A browser asks for the microphone soon after the click alone.
  useEffect(() => {
    loadVoice().then(
      ({ voiceDraft }) => voiceDraft.restore(token),
      () => null,
    );
  }, [token]);
  const start = () => {
    showError(null);
    if (planOf(tier).hasVoice) void record(token);
    else showError({ ...voiceNotInPlan, isNotice: true });
  };
  return (
    <>
      <button
        ref={ref}
        type="button"
        className={`${button({ look: 'soft', size: 'icon' })} ${sendButton}`}
        aria-label={voiceWords.record}
        aria-disabled={isAsking}
        onClick={start}
      >
        <Icon name="voice" />
      </button>
      <output
        className={problem || isAsking ? notice : visuallyHidden}
        data-look={problem ? 'problem' : undefined}
      >
        {problem ? problemText(problem) : isAsking ? voiceWords.asking : ''}
      </output>
    </>
  );
}

function problemText(problem: MicrophoneProblem): string {
  const { denied, missing, busy, unsupported, silent, short, unanswered } = voiceWords;
  const own = { denied, missing, busy, unsupported, silent, short, unanswered };
  return problem === 'network' ? errorWords.network : own[problem];
}

function Counter({ used }: { used: number }) {
  const left = longestMessage - used;
  return (
    <output className={left < 0 ? over : undefined}>
      {used >= counterFrom && (left < 0 ? composerWords.over(-left) : composerWords.left(left))}
    </output>
  );
}

const hasKeyboard = () => likelyKeyboard().matches;

function followKeyboard(tell: () => void): () => void {
  const media = likelyKeyboard();
  media.addEventListener('change', tell);
  return () => media.removeEventListener('change', tell);
}

const form = css({ display: 'grid', gap: '2' });
const row = css({ display: 'flex', flexWrap: 'wrap', gap: '2', alignItems: 'flex-end' });
const panelPlace = css({ minHeight: '[3.325rem]' });
const notice = css({
  order: '[-1]',
  flexBasis: '[100%]',
  textStyle: 'small',
  color: 'muted',
  '&[data-look=problem]': { color: 'danger' },
});
/** As high as the field with one line. */
const sendButton = css({ minHeight: '[3.325rem]' });
const over = css({ fontWeight: 'semibold', color: 'danger' });
const below = css({
  display: 'flex',
  flexWrap: 'wrap',
  columnGap: '4',
  textStyle: 'fine',
  color: 'muted',
});
const hint = css({
  marginInlineStart: { base: '0', md: 'auto' },
  '@media not (any-pointer: fine)': { display: 'none' },
});

/** The field grows with its text: an invisible copy of the text determines the height. */
const grow = css({
  display: 'grid',
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
  // A placeholder of two lines would be cut off.
  '& textarea::placeholder': { whiteSpace: 'nowrap' },
});

function Allowance() {
  const used = useSession(({ user }) => user?.messagesUsedThisPeriod ?? null);
  const tier = useSession(({ user }) => user?.metadata.subscriptionTier ?? null);
  const limit = planOf(tier).messageLimit;
  const isCounted = used !== null && limit !== null && limit >= 0;
  return (
    <span className={place}>
      {isCounted && <span>{composerWords.used({ used, limit })}</span>}
      {isCounted && used >= limit && (
        <>
          <NextWeek />
          <Link
            to="/plans"
            className={link()}
          >
            {composerWords.plans}
          </Link>
        </>
      )}
    </span>
  );
}

function NextWeek() {
  const begins = useSession(({ user }) => user?.metadata.resetsAt ?? null);
  const ahead = useStanding({ until: begins });
  return ahead?.until && <span>{untilWords.week(dayAndTimeText(ahead.until))}</span>;
}

/** As wide as the text, which comes later than the frame, so that the hint keeps its place. */
const place = css({
  display: 'inline-flex',
  flexWrap: 'wrap',
  columnGap: '2',
  minWidth: '[min(13rem, 50vw)]',
  minHeight: '[1.6em]',
});
