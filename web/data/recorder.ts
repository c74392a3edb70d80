import { joinedSlices, recordingType, type RecordingEnd } from '../rules/recording.ts';
import { LoudnessMeter } from './loudness-meter.ts';

type Recorded = Blob | 'short' | 'silent';
/** Gets the recording, its whole seconds (at least 1), and why it ended. */
type Listeners = {
  onEnd: (recorded: Recorded, seconds: number, end: RecordingEnd) => void;
  onSlice: (slice: Blob, seconds: number) => void;
};

/** Bit rate for speech; Chromium's own is five times as much. */
const audioBitsPerSecond = 24_000;
const shortestMs = 500;
const sliceMs = 1000;

export class ActiveRecording {
  readonly #stream: MediaStream;
  readonly #longestSeconds: number;
  readonly #recorder: MediaRecorder;
  /** Records in slices, which outlive a crash. They lack a duration, which the whole has. */
  readonly #slicer: MediaRecorder | null;
  readonly #slices: Blob[] = [];
  readonly #listeners: Listeners;
  readonly #meter: LoudnessMeter;
  readonly #startedAt = performance.now();
  readonly #limit: ReturnType<typeof setTimeout>;
  readonly #releaseWakeLock = keepScreenOn();
  #resolveFinished = () => {};
  readonly #finished = new Promise<void>((resolve) => {
    this.#resolveFinished = resolve;
  });
  #end: RecordingEnd | null = null;

  constructor(stream: MediaStream, longestSeconds: number, listeners: Listeners) {
    this.#stream = stream;
    this.#longestSeconds = longestSeconds;
    this.#listeners = listeners;

    const type = recordingType('audioSession' in navigator, (each) =>
      MediaRecorder.isTypeSupported(each),
    );
    const settings = { ...(type && { mimeType: type }), audioBitsPerSecond };
    this.#recorder = new MediaRecorder(stream, settings);
    this.#meter = new LoudnessMeter(stream);

    this.#recorder.addEventListener('dataavailable', ({ data }) => this.#finish(data));
    this.#recorder.addEventListener('error', () => void this.stop('interrupted'));
    for (const track of stream.getAudioTracks())
      for (const event of ['ended', 'mute']) track.addEventListener(event, this.#interrupt);

    document.addEventListener('visibilitychange', this.#hide);
    addEventListener('pagehide', this.#hide);
    addEventListener('beforeunload', this.#flush);

    this.#limit = setTimeout(() => void this.stop('limit'), longestSeconds * 1000);
    this.#recorder.start();
    this.#slicer = startSlicer(stream, settings);
    this.#slicer?.addEventListener('dataavailable', ({ data }) => this.#slice(data));
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  get level(): number {
    return this.#meter.level();
  }

  /** Ends the recording; resolves after it was handed over. */
  stop(end: RecordingEnd): Promise<void> {
    if (this.#end === null) {
      this.#end = end;
      quit(this.#slicer);
      if (this.#recorder.state === 'inactive') this.#finish(null);
      else this.#recorder.stop();
    }
    return this.#finished;
  }

  cancel(): void {
    this.#end ??= 'person';
    this.#release();
    this.#resolveFinished();
    quit(this.#recorder);
  }

  readonly #interrupt = () => void this.stop('interrupted');
  readonly #hide = () => {
    if (document.visibilityState === 'hidden') void this.stop('hidden');
  };
  readonly #flush = () => {
    if (this.#slicer?.state === 'recording') this.#slicer.requestData();
  };
  #isReleased = false;

  #slice(data: Blob): void {
    if (this.#isReleased || data.size === 0) return;
    this.#slices.push(data);
    this.#listeners.onSlice(data, this.#wholeSeconds());
  }

  /** The limit's timer is late on a busy device, and the server takes no more. */
  #wholeSeconds = () => Math.max(1, Math.round(Math.min(this.seconds, this.#longestSeconds)));

  #finish(data: Blob | null): void {
    if (this.#isReleased) return;
    const recorded = this.#recorded(data);
    const seconds = this.#wholeSeconds();
    this.#release();
    this.#listeners.onEnd(recorded, seconds, this.#end ?? 'interrupted');
    this.#resolveFinished();
  }

  #recorded(data: Blob | null): Recorded {
    if (this.seconds * 1000 < shortestMs) return 'short';
    const whole = data?.size ? data : joinedSlices(this.#slices);
    return whole.size === 0 || this.#meter.isSilent ? 'silent' : whole;
  }

  /** Releases the microphone, which the browser shows as in use until then. */
  #release(): void {
    this.#isReleased = true;
    clearTimeout(this.#limit);
    document.removeEventListener('visibilitychange', this.#hide);
    removeEventListener('pagehide', this.#hide);
    removeEventListener('beforeunload', this.#flush);
    quit(this.#slicer);
    for (const track of this.#stream.getTracks()) track.stop();
    this.#meter.close();
    this.#releaseWakeLock();
  }
}

/** Returns null in a browser that runs one recorder at a time. */
function startSlicer(stream: MediaStream, settings: MediaRecorderOptions): MediaRecorder | null {
  try {
    const slicer = new MediaRecorder(stream, settings);
    slicer.start(sliceMs);
    return slicer;
  } catch {
    return null;
  }
}

function quit(recorder: MediaRecorder | null): void {
  if (recorder && recorder.state !== 'inactive') recorder.stop();
}

/** Keeps the screen on: a dark one hides the page, which ends a recording. Returns what ends this. */
function keepScreenOn(): () => void {
  if (!('wakeLock' in navigator)) return () => undefined;
  const lock = navigator.wakeLock.request('screen').catch(() => null);
  return () => void lock.then((held) => held?.release());
}
