import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { fetchRecording } from '../../data/api-client.ts';
import { voicePlayer, type PlayState } from '../../data/voice-player.ts';
import { formatTime, type ShownMessage } from '../../rules/transcript.ts';
import { clockText } from '../../rules/recording.ts';
import { Icon } from '../../ui/icons.tsx';
import { errorWords } from '#words/page-errors';
import { voicePanelWords } from '#words/voice';

export default function VoiceMessage({ token, message }: { token: string; message: ShownMessage }) {
  const { id, key, voice, at } = message;
  if (!voice) return null;
  return (
    <RecordingPlayer
      id={key}
      seconds={voice.seconds}
      spokenAt={formatTime(at)}
      load={() => fetchRecording(token, id)}
    />
  );
}

/** `spokenAt` tells equal lengths apart. */
type PlayerProps = { id: string; seconds: number; spokenAt?: string; load: () => Promise<Blob> };

/** A second one stops the first. */
export function RecordingPlayer({ id, seconds, spokenAt, load }: PlayerProps) {
  const playback = useSyncExternalStore(voicePlayer.subscribe, voicePlayer.get, voicePlayer.get);
  const isOwn = playback.key === id;
  return (
    <PlayerControls
      seconds={seconds}
      spokenAt={spokenAt}
      position={isOwn ? playback.positionSeconds : 0}
      state={isOwn ? playback.state : 'paused'}
      speed={playback.speed}
      toggle={() => void voicePlayer.toggle(id, load)}
      seek={(position) => voicePlayer.seek(id, position)}
      changeSpeed={() => voicePlayer.changeSpeed()}
    />
  );
}

type ControlsProps = {
  seconds: number;
  spokenAt: string | undefined;
  position: number;
  state: PlayState;
  speed: number;
  toggle: () => void;
  seek: (position: number) => void;
  changeSpeed: () => void;
};

/** Seconds between spoken times. */
const spokenEverySeconds = 10;

function PlayerControls({
  seconds,
  spokenAt,
  position,
  state,
  speed,
  toggle,
  seek,
  changeSpeed,
}: ControlsProps) {
  const total = clockText(seconds);
  const isPlaying = state === 'playing';
  const playName = [voicePanelWords.play(total), spokenAt].filter(Boolean).join(', ');
  const spoken = isPlaying ? position - (position % spokenEverySeconds) : position;
  return (
    <div className={controls}>
      <button
        type="button"
        className={`${button({ look: 'outline', size: 'icon' })} ${unprinted}`}
        aria-label={isPlaying ? voicePanelWords.pause : playName}
        onClick={toggle}
      >
        <Icon name={isPlaying ? 'pause' : 'play'} />
      </button>
      <input
        type="range"
        className={range}
        min="0"
        max={String(seconds)}
        step="1"
        value={String(Math.min(Math.floor(position), seconds))}
        aria-label={voicePanelWords.position}
        aria-valuetext={voicePanelWords.at({ position: clockText(spoken), total })}
        onChange={({ target }) => seek(Number(target.value))}
      />
      <span
        className={clock}
        aria-hidden="true"
      >
        {position > 0 ? clockText(position) : total}
      </span>
      <button
        type="button"
        className={speedButton}
        aria-label={voicePanelWords.speed(String(speed))}
        onClick={changeSpeed}
      >{`${speed}×`}</button>
      <output className={problem}>{stateWords[state] ?? ''}</output>
    </div>
  );
}

const stateWords: Partial<Record<PlayState, string>> = {
  loading: voicePanelWords.loading,
  failed: voicePanelWords.cannotPlay,
  unreached: errorWords.network,
};

const controls = css({
  display: 'flex',
  flexWrap: 'wrap',
  alignItems: 'center',
  gap: '2',
  width: '[min(19rem, 100%)]',
});
const range = css({
  flex: '1',
  minWidth: '[4rem]',
  height: '[1.5rem]',
  accentColor: '[currentColor]',
  color: 'primary',
  _print: { display: 'none' },
});
const clock = css({
  minWidth: '[2.25rem]',
  textStyle: 'fine',
  fontVariantNumeric: 'tabular-nums',
});
const speedButton = css({
  minWidth: '[2.75rem]',
  minHeight: 'touch',
  borderRadius: 'full',
  textStyle: 'fine',
  fontWeight: 'semibold',
  cursor: 'pointer',
  _hover: { backgroundColor: 'primarySoft' },
  _print: { display: 'none' },
});
const unprinted = css({ _print: { display: 'none' } });
const problem = css({
  flexBasis: '[100%]',
  textStyle: 'fine',
  _empty: { display: 'none' },
});
