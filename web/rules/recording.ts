/** `hidden`: the page was left; `interrupted`: the microphone was taken. */
export const recordingEnds = ['person', 'limit', 'hidden', 'interrupted'] as const;
export type RecordingEnd = (typeof recordingEnds)[number];

/** Best first. Each plays in every browser of 2026. */
const recordingTypes = {
  // Safari also records webm, which its player cannot measure.
  safari: ['audio/mp4;codecs=mp4a.40.2', 'audio/mp4'],
  // Firefox can seek ogg, not its webm. Bare `audio/mp4` would be opus in Chromium.
  others: ['audio/ogg;codecs=opus', 'audio/webm;codecs=opus', 'audio/mp4;codecs=mp4a.40.2'],
};

/** Returns the best type that is supported; undefined leaves the choice to the browser. */
export function recordingType(
  isSafari: boolean,
  isSupported: (type: string) => boolean,
): string | undefined {
  return recordingTypes[isSafari ? 'safari' : 'others'].find(isSupported);
}

/** Joins slices into one recording of the first slice's type. */
export const joinedSlices = (slices: Blob[]): Blob =>
  new Blob(slices, slices[0] && { type: slices[0].type });

export type MicrophoneProblem =
  | 'denied'
  | 'missing'
  | 'busy'
  | 'unsupported'
  | 'silent'
  | 'short'
  | 'unanswered'
  | 'network';

/** Reads the name of an error of `getUserMedia`, or of the recorder's download. */
export function microphoneProblem(name: string): MicrophoneProblem {
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'denied';
  if (name === 'NetworkError') return 'network';
  if (name === 'TimeoutError') return 'unanswered';
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'missing';
  return name === 'NotReadableError' || name === 'AbortError' ? 'busy' : 'unsupported';
}

/** Sending again does not help. */
const finalRefusals: ReadonlySet<string | null> = new Set([
  'body_too_large',
  'not_audio',
  'invalid_body',
  'invalid_field',
]);

export const isRefusedForGood = (code: string | null): boolean => finalRefusals.has(code);

export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** 0 to 1; speech has samples around 0.1, which is about half. */
export function levelOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.min(1, Math.sqrt(Math.sqrt(sum / samples.length)) * 1.6);
}
