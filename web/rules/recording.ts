/** Why a recording ended: by the person, at the limit, because the page was left, or the microphone was taken. */
export const recordingEnds = ['person', 'limit', 'hidden', 'interrupted'] as const;
export type RecordingEnd = (typeof recordingEnds)[number];

/** The types to ask for, the best first. Each plays in every browser of 2026, by the first that the browser supports. */
const recordingTypes = {
  // Safari also records webm, which its own player cannot measure.
  safari: ['audio/mp4;codecs=mp4a.40.2', 'audio/mp4'],
  // Only Firefox records ogg, which it can seek, unlike its webm. A bare `audio/mp4` would be opus in Chromium.
  others: ['audio/ogg;codecs=opus', 'audio/webm;codecs=opus', 'audio/mp4;codecs=mp4a.40.2'],
};

/** The type to record; undefined leaves the choice to the browser. */
export function recordingType(
  isSafari: boolean,
  isSupported: (type: string) => boolean,
): string | undefined {
  return recordingTypes[isSafari ? 'safari' : 'others'].find(isSupported);
}

export type MicrophoneProblem =
  | 'denied'
  | 'missing'
  | 'busy'
  | 'unsupported'
  | 'silent'
  | 'short'
  | 'unanswered'
  | 'network';

/** Why nothing can be recorded, by the name of the error of `getUserMedia`, or of the recorder's download. */
export function microphoneProblem(name: string): MicrophoneProblem {
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'denied';
  if (name === 'NetworkError') return 'network';
  if (name === 'TimeoutError') return 'unanswered';
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'missing';
  return name === 'NotReadableError' || name === 'AbortError' ? 'busy' : 'unsupported';
}

/** The refusals of a recording that stay the same however often it is sent. */
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

/** The loudness from 0 to 1 of samples between -1 and 1; speech is around 0.1, which fills about half. */
export function levelOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.min(1, Math.sqrt(Math.sqrt(sum / samples.length)) * 1.6);
}
