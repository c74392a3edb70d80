import { untilWords } from '#words/until';
import { momentText } from '../rules/moments.ts';
import { Alert } from './alert.tsx';

/** `until`: ISO 8601, if it ends by itself. */
export type Refused = { text: string; until: string | null };

export function Refusal({ text, until }: Refused) {
  const wait = until === null ? '' : ` ${untilWords.tryAgain(momentText(until))}`;
  return <Alert look="danger">{text + wait}</Alert>;
}
