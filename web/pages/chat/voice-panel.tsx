import { useEffect, useRef, useState, useSyncExternalStore, type KeyboardEvent } from 'react';
import { longestRecordingSeconds } from '#contract/chat-limits';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import type { ActiveRecording } from '../../data/recorder.ts';
import { voiceDraft } from '../../data/voice-draft.ts';
import { voiceStore, type KeptRecording } from '../../data/voice-store.ts';
import { clockText, isRefusedForGood, type RecordingEnd } from '../../rules/recording.ts';
import { visuallyHidden } from '../../ui/visually-hidden.ts';
import { Icon } from '../../ui/icons.tsx';
import { voicePanelWords, voiceWords } from '#words/voice';
import { ApiError } from '../../data/api-error.ts';
import { plainError, sendError, SendErrorText, type SendError } from './send-error.tsx';
import { RecordingPlayer } from './voice-message.tsx';

export default function VoicePanel({ openHelp }: { openHelp: () => void }) {
  const { active, kept, error, isUnkept } = useSyncExternalStore(
    voiceStore.subscribe,
    voiceStore.get,
    voiceStore.get,
  );

  const panel = useRef<HTMLDivElement>(null);
  // The button that had the focus is gone.
  useEffect(() => {
    if (document.activeElement === document.body) panel.current?.focus();
  });

  const stopOnEscape = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') void voiceDraft.stop();
  };

  const problem = problemIn(kept, error);

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape stops the recording
    <div
      ref={panel}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a fieldset would need a legend on screen
      role="group"
      aria-label={voicePanelWords.group}
      className={group}
      tabIndex={-1}
      onKeyDown={stopOnEscape}
    >
      {problem && (
        <SendErrorText
          id="voice-error"
          error={problem}
          openHelp={openHelp}
          dismiss={() => voiceStore.set({ error: null })}
        />
      )}
      <output className={warning}>{isUnkept && voicePanelWords.unkept}</output>
      {active && <RunningRecording active={active} />}
      {kept && (
        <FinishedRecording
          kept={kept}
          error={error}
        />
      )}
    </div>
  );
}

function problemIn(kept: KeptRecording | null, error: unknown): SendError | null {
  if (kept?.isTooLarge) return plainError(voiceWords.tooLarge);
  return kept && error !== null ? sendError(error) : null;
}

/** Each is a tenth of a second. */
const bars = 28;
const countdownSeconds = 10;

function RunningRecording({ active }: { active: ActiveRecording }) {
  const { seconds, levels } = useLoudness(active);
  const left = Math.max(0, Math.ceil(longestRecordingSeconds - seconds));
  const isEnding = left <= countdownSeconds;
  return (
    <>
      <div className={line}>
        <span
          className={dot}
          aria-hidden="true"
        />
        <span
          className={clock}
          role="timer"
        >
          {clockText(seconds)}
        </span>
        <Meter levels={levels} />
        {isEnding && <span aria-hidden="true">{voicePanelWords.secondsLeft(left)}</span>}
        <output className={visuallyHidden}>
          {isEnding && voicePanelWords.secondsLeft(countdownSeconds)}
        </output>
      </div>
      <div className={actions}>
        <button
          type="button"
          className={button({ look: 'quiet' })}
          onClick={() => voiceDraft.discard()}
        >
          {voicePanelWords.cancel}
        </button>
        <button
          type="button"
          className={button({ look: 'outline' })}
          onClick={voiceDraft.stop}
        >
          {voicePanelWords.stop}
        </button>
        <button
          type="button"
          className={button()}
          onClick={() => void voiceDraft.send()}
        >
          {voicePanelWords.send}
        </button>
      </div>
    </>
  );
}

function useLoudness(active: ActiveRecording) {
  const [measured, setMeasured] = useState({ seconds: 0, levels: [] as number[] });
  useEffect(() => {
    const measure = () =>
      setMeasured(({ levels }) => ({
        seconds: active.seconds,
        levels: [...levels, active.level].slice(-bars),
      }));
    const timer = setInterval(measure, 100);
    return () => clearInterval(timer);
  }, [active]);
  return measured;
}

function Meter({ levels }: { levels: number[] }) {
  return (
    <span
      className={meter}
      aria-hidden="true"
    >
      {levels.map((level, index) => (
        <i
          key={index}
          style={{ height: `${Math.round(12 + level * 88)}%` }}
        />
      ))}
    </span>
  );
}

const endWords: Record<RecordingEnd, string | null> = {
  person: null,
  limit: voicePanelWords.limit,
  hidden: voicePanelWords.hidden,
  interrupted: voicePanelWords.interrupted,
};

function FinishedRecording({ kept, error }: { kept: KeptRecording; error: unknown }) {
  const { id, blob, seconds, end, isSending, isTooLarge } = kept;
  const isRefused = error instanceof ApiError && isRefusedForGood(error.code);
  const sendLabel = error === null ? voicePanelWords.send : voicePanelWords.sendAgain;
  return (
    <>
      <output className={css({ textStyle: 'small', color: 'muted' })}>
        {endWords[end] ?? voicePanelWords.recorded(clockText(seconds))}
      </output>
      <RecordingPlayer
        id={id}
        seconds={seconds}
        load={() => Promise.resolve(blob)}
      />
      <div className={actions}>
        {isSending ? (
          <button
            key="cancel"
            type="button"
            className={button({ look: 'quiet' })}
            onClick={() => voiceDraft.stopSending()}
          >
            {voicePanelWords.cancel}
          </button>
        ) : (
          <button
            key="discard"
            type="button"
            className={button({ look: 'quiet' })}
            onClick={() => voiceDraft.discard()}
          >
            <Icon name="trash" />
            {voicePanelWords.discard}
          </button>
        )}
        {!isTooLarge && !isRefused && (
          <button
            type="button"
            className={button()}
            aria-disabled={isSending}
            onClick={() => void voiceDraft.send()}
          >
            {isSending ? voicePanelWords.sending : sendLabel}
          </button>
        )}
      </div>
    </>
  );
}

const group = css({
  display: 'grid',
  gap: '2',
  padding: '3',
  borderRadius: 'lg',
  borderWidth: 'thin',
  borderColor: 'edge',
  backgroundColor: 'raised',
  outline: 'none',
});
const warning = css({ textStyle: 'small', color: 'danger', _empty: { display: 'none' } });
const line = css({
  display: 'flex',
  alignItems: 'center',
  gap: '3',
  minHeight: '[2rem]',
  textStyle: 'small',
});
const dot = css({
  width: '[0.75rem]',
  height: '[0.75rem]',
  borderRadius: 'full',
  backgroundColor: 'danger',
  _forced: { backgroundColor: '[CanvasText]' },
  _calm: { animation: '[breathe 1.2s infinite alternate]' },
});
const clock = css({
  minWidth: '[2.5rem]',
  fontVariantNumeric: 'tabular-nums',
  fontWeight: 'semibold',
});
const meter = css({
  flex: '1',
  display: 'flex',
  alignItems: 'center',
  justifyContent: 'flex-end',
  gap: '[2px]',
  height: '[2rem]',
  overflow: 'hidden',
  '& i': {
    flex: '[0 0 4px]',
    borderRadius: 'full',
    backgroundColor: 'primary',
    _forced: { backgroundColor: '[CanvasText]' },
  },
});
const actions = css({
  display: 'flex',
  flexWrap: 'wrap',
  gap: '2',
  justifyContent: 'flex-end',
  // A second tap on Stop must not throw it away.
  '& > :first-child': { marginInlineEnd: 'auto' },
});
