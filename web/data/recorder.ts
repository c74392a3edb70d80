import { joinedSlices, levelOf, recordingType, type RecordingEnd } from '../rules/recording.ts';

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
  /** Its slices outlive a crash. The whole has a duration, which they lack. */
  readonly #slicer: MediaRecorder | null;
  readonly #slices: Blob[] = [];
  readonly #listeners: Listeners;
  readonly #meter: Meter;
  readonly #startedAt = performance.now();
  readonly #limit: ReturnType<typeof setTimeout>;
  readonly #letSleep = keepAwake();
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
    this.#meter = new Meter(stream);
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
  readonly #hide = () => document.visibilityState === 'hidden' && void this.stop('hidden');
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
    const recorded = data?.size ? data : joinedSlices(this.#slices);
    const isShort = this.seconds * 1000 < shortestMs;
    const isEmpty = recorded.size === 0 || this.#meter.isSilent;
    const nothing = isShort ? 'short' : 'silent';
    const seconds = this.#wholeSeconds();
    this.#release();
    this.#listeners.onEnd(
      isShort || isEmpty ? nothing : recorded,
      seconds,
      this.#end ?? 'interrupted',
    );
    this.#resolveFinished();
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
    this.#letSleep();
  }
}

/** Null in a browser that records once at a time. */
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
function keepAwake(): () => void {
  if (!('wakeLock' in navigator)) return () => undefined;
  const lock = navigator.wakeLock.request('screen').catch(() => null);
  return () => void lock.then((held) => held?.release());
}

/** Measures loudness. Browsers allow few audio contexts, so each is closed. */
class Meter {
  readonly #context = new AudioContext();
  readonly #analyser: AnalyserNode;
  readonly #samples: Float32Array<ArrayBuffer>;
  #loudest = 0;
  #measured = 0;

  constructor(stream: MediaStream) {
    this.#analyser = this.#context.createAnalyser();
    this.#analyser.fftSize = 1024;
    this.#samples = new Float32Array(this.#analyser.fftSize);
    this.#context.createMediaStreamSource(stream).connect(this.#analyser);
    void this.#context.resume().catch(() => null);
  }

  level(): number {
    if (this.#context.state !== 'running') return 0;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    const level = levelOf(this.#samples);
    this.#loudest = Math.max(this.#loudest, level);
    this.#measured += 1;
    return level;
  }

  /** Whether the microphone is muted: it delivers zeros. A stopped context proves nothing. */
  get isSilent(): boolean {
    return this.#measured > 5 && this.#loudest === 0;
  }

  close(): void {
    void this.#context.close().catch(() => null);
  }
}
