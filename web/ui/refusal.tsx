import { untilWords } from '#words/until';
import { momentText } from '../rules/moments.ts';
import { Alert } from './alert.tsx';
import { NotLoaded } from './refresh-page.tsx';

/** `until`: ISO 8601, if it ends by itself. */
export type RefusalText = { text: string; until: string | null; isFileMissing?: boolean };

export function Refusal({ text, until, isFileMissing = false }: RefusalText) {
  if (isFileMissing) return <NotLoaded />;
  const wait = until === null ? '' : ` ${untilWords.tryAgain(momentText(until))}`;
  return <Alert look="danger">{text + wait}</Alert>;
}
