import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'playwright/test';
import { ensureHeadlessBrowser, journeyArguments } from './browser.ts';

const state = (name: string) =>
  fileURLToPath(new URL(`../../.wrangler/test-browser/${name}`, import.meta.url));

export default defineConfig({
  testDir: '.',
  outputDir: state('results'),
  globalSetup: './global-setup.ts',
  // More than one processor has work for, since tests wait, too; on two idle ones three take longer.
  workers: Math.min(6, 1 + Math.ceil(availableParallelism() / 2)),
  fullyParallel: true,
  // The long tours: `npm run test:full` runs them, too.
  grepInvert: process.env['TEST_FULL'] ? [] : /@full/,
  // Only a failure takes this long: the limits leave room for a busy machine.
  timeout: 300_000,
  // An event for the bot that failed once is sent again by the cron job, which runs every minute.
  expect: { timeout: 120_000 },
  reporter: [['list']],
  reportSlowTests: null,
  use: {
    browserName: 'chromium',
    launchOptions: {
      executablePath: ensureHeadlessBrowser(),
      args: journeyArguments,
    },
    // A picture of each frame would cost as much as the tests, a copy of each step's page a seventh of it.
    trace: {
      mode: 'retain-on-failure',
      screenshots: false,
      snapshots: false,
    },
    // The worker would outlive its test; the tests of it allow it.
    serviceWorkers: 'block',
    viewport: { width: 1280, height: 900 },
    // Each frame of an animation is drawn by the processor.
    contextOptions: { reducedMotion: 'reduce' },
  },
});
