import { keptInTab } from './kept-in-tab.ts';
import { recordingEnds } from '../rules/recording.ts';
import type { KeptRecording } from './voice-store.ts';

/** The tab keeps texts alone. */
export async function keepRecording(token: string, recording: KeptRecording): Promise<void> {
  const { id, blob, seconds, end } = recording;
  const data = await dataUrlOf(blob);
  keptInTab.keep('recording', token, { id, seconds, end, data });
}

export async function readRecording(token: string): Promise<KeptRecording | null> {
  const kept: Record<string, unknown> = Object(keptInTab.read('recording', token));
  const { id, seconds, data } = kept;
  if (typeof id !== 'string' || typeof seconds !== 'number' || typeof data !== 'string')
    return null;
  const blob = blobOf(data);
  if (!blob) return null;
  const end = recordingEnds.find((each) => each === kept['end']) ?? 'hidden';
  return { id, seconds, blob, end, isSending: false, isTooLarge: false };
}

function dataUrlOf(blob: Blob): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}

/** The content policy forbids to fetch the address. */
function blobOf(dataUrl: string): Blob | null {
  const [head = '', base64 = ''] = dataUrl.split(';base64,');
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return new Blob([bytes], { type: head.replace('data:', '') });
  } catch {
    return null;
  }
}
