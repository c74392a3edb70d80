import { visuallyHidden } from '../../ui/visually-hidden.tsx';
import { usageWords } from '../../words/account.ts';

const almost = 0.8;

/** Says once, for those who cannot see the bar, that the allowance is nearly or entirely used. */
export function UsageWarning({ used, limit }: { used: number; limit: number }) {
  return <output className={visuallyHidden}>{warning(used, limit)}</output>;
}

function warning(used: number, limit: number): string {
  if (used >= limit) return usageWords.reached;
  // A sentence without the number stays the same from message to message, so it is read out once.
  return used >= limit * almost ? usageWords.almost : '';
}
