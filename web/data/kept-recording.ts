import { largestRecordingBytes } from '#contract/chat-limits';
import { keptInTab } from './kept-in-tab.ts';
import { joinedSlices, recordingEnds } from '../rules/recording.ts';
import type { KeptRecording } from './voice-store.ts';

type Owner = { token: string; id: string };
type StoredTexts = Record<string, unknown>;

const read = (token: string): StoredTexts => Object(keptInTab.read('recording', token));

/** Keeps slices for a page that ends meanwhile. The whole recording replaces them. */
export class RecordingKeeper {
  readonly owner: Owner;
  readonly #slices: Promise<boolean>[] = [];

  constructor(owner: Owner) {
    this.owner = owner;
  }

  /** Replaces what the tab kept before. */
  begin(): void {
    const { token, id } = this.owner;
    keptInTab.remove('slice', token);
    keptInTab.keep('recording', token, { id });
  }

  /** Whether it outlives the page. */
  keepSlice(slice: Blob, seconds: number): Promise<boolean> {
    const kept = this.#writeSlice(this.#slices.length, slice, seconds);
    this.#slices.push(kept);
    return kept;
  }

  /** Keeps the whole recording. Its slices stay if the tab has no room for it. */
  async keepWhole({ blob, seconds, end }: KeptRecording): Promise<boolean> {
    const { token, id } = this.owner;
    const data = await textOf(blob);
    const slices = await Promise.all(this.#slices);
    if (this.#isDropped()) return true;

    if (data && keptInTab.keep('recording', token, { id, seconds, end, data })) {
      keptInTab.remove('slice', token);
      return true;
    }

    const isWhole = slices.length > 0 && slices.every(Boolean);
    // In memory it would ask before each reload.
    if (isWhole || !data) keptInTab.keep('recording', token, { id, end });
    return isWhole;
  }

  drop(): void {
    keptInTab.remove('recording', this.owner.token);
    keptInTab.remove('slice', this.owner.token);
  }

  /** A slice is read while its recording is thrown away. */
  #isDropped = () => read(this.owner.token)['id'] !== this.owner.id;

  async #writeSlice(index: number, slice: Blob, seconds: number): Promise<boolean> {
    const { token, id } = this.owner;
    const data = await textOf(slice);
    if (this.#isDropped()) return true;
    return data !== null && keptInTab.keep(`slice${index}`, token, { id, seconds, data });
  }
}

export function readRecording(token: string): KeptRecording | null {
  const kept = read(token);
  const parts = typeof kept['data'] === 'string' ? [kept] : slicesOf(token);
  const blobs = parts.map(({ data }) => blobOf(String(data)));
  const { id, seconds } = parts.at(-1) ?? {};

  if (typeof id !== 'string' || typeof seconds !== 'number') return null;
  if (!blobs.every((blob) => blob !== null)) return null;

  const blob = joinedSlices(blobs);
  const isTooLarge = blob.size > largestRecordingBytes;
  const end = recordingEnds.find((each) => each === kept['end']) ?? 'hidden';
  return { id, seconds, blob, end, isSending: false, isTooLarge };
}

/** Up to the first that is missing: what follows would not play. */
function slicesOf(token: string): StoredTexts[] {
  const slices: StoredTexts[] = [];
  for (;;) {
    const slice: StoredTexts = Object(keptInTab.read(`slice${slices.length}`, token));
    const { id } = slices[0] ?? slice;
    if (typeof slice['data'] !== 'string' || slice['id'] !== id) return slices;
    slices.push(slice);
  }
}

/** Keeps a recording as a data address, since the tab stores texts alone. Null: a full device cannot give it back. */
function textOf(blob: Blob): Promise<string | null> {
  const reader = new FileReader();
  return new Promise((resolve) => {
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => resolve(null));
    reader.readAsDataURL(blob);
  });
}

/** Decodes the address here: the content policy forbids to fetch it. */
function blobOf(dataUrl: string): Blob | null {
  const [head = '', base64 = ''] = dataUrl.split(';base64,');
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return new Blob([bytes], { type: head.replace('data:', '') });
  } catch {
    return null;
  }
}
