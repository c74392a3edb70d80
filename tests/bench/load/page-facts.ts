/** The figures of one page load: ms, the layout shift, and transferred KB. */
export type Load = {
  firstPaint: number;
  largestPaint: number;
  shift: number;
  blocked: number;
  loaded: number;
  bytes: number;
};

type Seen = { largestPaint: number; shift: number; tasks: { startTime: number; duration: number }[] };
declare global {
  interface Window {
    seen: Seen;
  }
}

/** Runs in the page, before anything else. */
export function observe(): void {
  const seen: Seen = { largestPaint: 0, shift: 0, tasks: [] };
  window.seen = seen;
  const watch = (type: string, take: (entry: PerformanceEntry) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch('largest-contentful-paint', ({ startTime }) => (seen.largestPaint = startTime));
  watch('layout-shift', (entry) => (seen.shift += (entry as unknown as { value: number }).value));
  watch('longtask', ({ startTime, duration }) => seen.tasks.push({ startTime, duration }));
}

/** Runs in the page after loading has ended. */
export function read(): Load {
  const { largestPaint, shift, tasks } = window.seen;
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const firstPaint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN;
  const fetched = [page!, ...(performance.getEntriesByType('resource') as PerformanceResourceTiming[])];
  const late = tasks.filter((task) => task.startTime + task.duration > firstPaint);
  return {
    firstPaint,
    largestPaint,
    shift,
    blocked: late.reduce((sum, task) => sum + Math.max(0, task.duration - 50), 0),
    loaded: page!.loadEventEnd,
    bytes: fetched.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024,
  };
}
