import { fileURLToPath } from 'node:url';
import { defineConfig } from 'playwright/test';
import type { EngineName } from './support/tab.ts';

const state = (name: string) =>
  fileURLToPath(new URL(`../../.wrangler/test-engines/${name}`, import.meta.url));

/** Playwright runs the tests; the browsers are those of the system, which Playwright cannot drive. */
export default defineConfig<object, { engineName: EngineName }>({
  testDir: '.',
  outputDir: state('results'),
  globalSetup: '../browser/global-setup.ts',
  projects: (['firefox', 'webkit'] as const).map((engineName) => ({
    name: engineName,
    use: { engineName },
  })),
  workers: 2,
  fullyParallel: false,
  // Only a failure takes this long: the limits leave room for a busy machine.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  reporter: [['list']],
});
