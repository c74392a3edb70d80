import { timeText } from '#words/intl';
import { locale } from '#words/language';

/** An instant (ISO 8601) in the reader's own time zone: "5:16 AM" if it is today, else "Saturday, December 5, 5:16 AM". */
export function momentText(instant: string, now = new Date()): string {
  const at = new Date(instant);
  const isToday = at.toDateString() === now.toDateString();
  return isToday ? timeText(at.getHours(), at.getMinutes()) : dayAndTimeText(instant);
}

/** "Saturday, December 5, 5:16 AM", in the reader's own time zone. */
export function dayAndTimeText(instant: string): string {
  const at = new Date(instant);
  const day = { weekday: 'long', month: 'long', day: 'numeric' } as const;
  return `${at.toLocaleDateString(locale, day)}, ${timeText(at.getHours(), at.getMinutes())}`;
}

/** The beginning (unix ms) of the day after an instant, in the reader's own time zone. */
export function nextMidnight(now: number): number {
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime();
}
