import { afterAll, afterEach, vi } from 'vitest';
import { restoreServices } from './sandbox.ts';
import { endSubscriptions } from './stripe.ts';

// One process runs all files, with the same local services: what a test changes would reach the next one.
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await restoreServices();
});

afterAll(endSubscriptions);
