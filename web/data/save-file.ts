import { isInApp } from '../rules/in-app.ts';

/** ms after which every browser has read the file. */
const readableMs = 60_000;

/** Saves a file. Returns false where the browser would drop it without a word. */
export async function saveFile(file: File): Promise<boolean> {
  if (isInApp(navigator)) return share(file);
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), readableMs);
  return true;
}

async function share(file: File): Promise<boolean> {
  const data = { files: [file] };
  if (!('canShare' in navigator) || !navigator.canShare(data)) return false;
  return navigator.share(data).then(
    () => true,
    // The person has closed the dialog of the system.
    (error: unknown) => error instanceof DOMException && error.name === 'AbortError',
  );
}
