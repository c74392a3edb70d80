import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: { name: 'operations', include: ['tests/operations/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
