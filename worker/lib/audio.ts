export type Recording = { type: string; bytes: ArrayBuffer };

type Signature = { at: number; text: string };

/** What the containers begin with. Of Ogg, the first page holds the header of Opus. */
const signatures: Record<string, Signature[]> = {
  'audio/webm': [{ at: 0, text: '\x1a\x45\xdf\xa3' }],
  'audio/mp4': [{ at: 4, text: 'ftyp' }],
  'audio/ogg': [
    { at: 0, text: 'OggS' },
    { at: 28, text: 'OpusHead' },
  ],
};
/**
 * A WebM file names its kind within its first
 * header; Matroska begins with the same bytes.
 */
const webmWithin = 64;

/**
 * Whether the bytes begin as a file of the type does. This
 * stops mistakes; nothing serves a recording as a document.
 */
export function isRecording({ type, bytes }: Recording): boolean {
  const container = type.split(';')[0]!.trim().toLowerCase();
  const begin = latin1.decode(bytes.byteLength > webmWithin ? bytes.slice(0, webmWithin) : bytes);
  const expected = signatures[container];
  if (!expected?.every(({ at, text }) => begin.startsWith(text, at))) return false;
  return container !== 'audio/webm' || begin.includes('webm');
}

const latin1 = { decode: (bytes: ArrayBuffer) => String.fromCharCode(...new Uint8Array(bytes)) };
