import { visuallyHidden } from '../../ui/visually-hidden.tsx';
import { usageWords } from '../../words/account.ts';

const almost = 0.8;

/** Announces once to screen readers that the allowance is nearly or entirely used. */
export function UsageWarning({ used, limit }: { used: number; limit: number }) {
  return <output className={visuallyHidden}>{warning(used, limit)}</output>;
}

function warning(used: number, limit: number): string {
  if (used >= limit) return usageWords.reached;
  // Without the number the sentence does not change with each message, so it is announced once.
  return used >= limit * almost ? usageWords.almost : '';
}
