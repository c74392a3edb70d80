/**
 * How sources are watched. Without `awaitWriteFinish` the watcher drops a change within 50 ms of the one before, and a
 * file is read while an editor or a formatter still writes it.
 */
export const watch = {
  ignored: '**/.wrangler/**',
  awaitWriteFinish: { stabilityThreshold: 40, pollInterval: 10 },
};
