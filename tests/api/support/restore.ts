import { afterEach, beforeEach, vi } from 'vitest';
import { recordLog } from './log.ts';
import { restoreServices } from './sandbox.ts';

beforeEach(recordLog);

// One process runs all files, with the same local services: what a test changes would reach the next one.
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await restoreServices();
});
