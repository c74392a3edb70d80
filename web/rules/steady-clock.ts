/** Milliseconds for durations that outlive a reload. They do not jump while a page is open, but may between two. */
export const steadyNow = (): number => performance.timeOrigin + performance.now();
