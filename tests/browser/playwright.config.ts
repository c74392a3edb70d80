import { fileURLToPath } from 'node:url';
import { defineConfig } from 'playwright/test';
import { ensureHeadlessBrowser, journeyArguments } from './browser.ts';

const state = (name: string) => fileURLToPath(new URL(`../../.wrangler/test-browser/${name}`, import.meta.url));

export default defineConfig({
  testDir: '.',
  projects: [
    // They advance Stripe's clock, which is one for all: another one's open checkout would expire.
    { name: 'billing', testMatch: /billing[\w-]*\.test\.ts$/, workers: 1 },
    { name: 'pages', testIgnore: /billing[\w-]*\.test\.ts$/ },
  ],
  outputDir: state('results'),
  globalSetup: './global-setup.ts',
  workers: 2,
  fullyParallel: true,
  // On a slow machine one of three hundred tests may time out; a broken test fails again.
  retries: process.env.CI ? 2 : 0,
  timeout: 45_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: { executablePath: ensureHeadlessBrowser(), args: journeyArguments },
    viewport: { width: 1280, height: 900 },
  },
});
