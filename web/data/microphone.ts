import { microphoneWords } from '#words/voice';
import { errorWords } from '#words/page-errors';
import { microphoneProblem, type MicrophoneProblem } from '../rules/recording.ts';
import * as timeLimits from './time-limits.ts';
import { TimeLimitError, within } from './promise-limit.ts';

const constraints = {
  channelCount: 1,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

export async function askForMicrophone(): Promise<MediaStream> {
  if (typeof MediaRecorder !== 'function') throw new DOMException('', 'NotSupportedError');
  const asked = navigator.mediaDevices.getUserMedia({ audio: constraints });
  try {
    return await within(timeLimits.permissionMs, asked);
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    // Nobody waits for a late permission.
    void asked.then(releaseMicrophone, () => null);
    throw new DOMException('', 'TimeoutError');
  }
}

/** Whether the browser will ask. It does not ask people who have decided before. */
export async function willAskForMicrophone(): Promise<boolean> {
  const name = 'microphone' as PermissionName;
  try {
    const { state } = await navigator.permissions.query({ name });
    return state === 'prompt';
  } catch {
    // Not every browser tells.
    return true;
  }
}

export function releaseMicrophone(stream: MediaStream | null): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

export const microphoneErrorText = (error: unknown) =>
  microphoneProblemText(microphoneProblem(error instanceof DOMException ? error.name : ''));

export function microphoneProblemText(problem: MicrophoneProblem): string {
  return problem === 'network' ? errorWords.network : sentences[problem];
}

const { denied, missing, busy, unsupported, silent, short, unanswered } = microphoneWords;
const sentences = { denied, missing, busy, unsupported, silent, short, unanswered };
