import { timeText } from '#words/intl';
import { withdrawWords } from '#words/withdraw';
import { formatDate } from './formats.ts';

/** Apart from `withdrawal-view.ts`, which only a contract needs. */
export function formatInstant(iso: string): string {
  const date = new Date(iso);
  const time = timeText(date.getHours(), date.getMinutes());
  return withdrawWords.untilText({ date: formatDate(iso), time });
}
