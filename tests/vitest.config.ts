import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const suite = (name: string, folders: string) => ({
  extends: true as const,
  test: { name, include: [`tests/${folders}/**/*.test.ts`] },
});

/** The suites that run in Node.js; `--project` chooses one. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    projects: [
      suite('rules', 'rules'),
      suite('build', 'build'),
      suite('services', '{sandbox,product,dev,runner,faults}'),
      suite('operations', 'operations'),
    ],
    // Only a failure takes this long: the limits leave room for a busy machine.
    testTimeout: 300_000,
    hookTimeout: 600_000,
    // No test changes a module, so one process runs all files and imports each module once.
    isolate: false,
    tags: [{ name: 'full', description: 'Takes long: `npm run test:full` alone runs it.' }],
    ...(process.env['TEST_FULL'] ? {} : { tagsFilter: ['!full'] }),
  },
});
