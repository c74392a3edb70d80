import { afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { call } from './api.ts';
import { recordLog } from './requests.ts';
import { restoreServices } from './sandbox.ts';

/**
 * Loads Stripe's SDK by an event with a bad signature. Where tests run, `import()` asks another process for the module,
 * and calls that load it at once would wait for each other's I/O, which workerd refuses.
 */
beforeAll(async () => {
  const signature = `t=${Math.floor(Date.now() / 1000)},v1=0`;
  await call('POST', '/api/webhooks/stripe', {
    text: '{}',
    headers: { 'stripe-signature': signature },
  });
});

beforeEach(recordLog);

// One process runs all files, with the same local services: what a test changes would reach the next one.
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await restoreServices();
});
