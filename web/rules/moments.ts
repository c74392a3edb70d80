import { timeText } from '#words/intl';
import { locale } from '#words/language';

const minuteMs = 60_000;

/** Rounds up to the next whole minute. */
const afterWaiting = (instant: string) =>
  new Date(Math.ceil(Date.parse(instant) / minuteMs) * minuteMs);

/** "5:16 AM" today, else "Saturday, December 5, 5:16 AM". */
export function momentText(instant: string, now = new Date()): string {
  const at = afterWaiting(instant);
  const isToday = at.toDateString() === now.toDateString();
  return isToday ? timeText(at.getHours(), at.getMinutes()) : dayAndTimeText(instant);
}

export function dayAndTimeText(instant: string): string {
  const at = afterWaiting(instant);
  const day = { weekday: 'long', month: 'long', day: 'numeric' } as const;
  return `${at.toLocaleDateString(locale, day)}, ${timeText(at.getHours(), at.getMinutes())}`;
}

/** Unix ms, in the reader's zone. */
export function nextMidnight(now: number): number {
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime();
}
