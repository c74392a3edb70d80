import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { languages } from '../../worker/contract/languages.ts';
import { compileWords } from '../../web/build/words/compile.ts';
import { readTexts } from '../../web/build/words/texts.ts';

compileWords(languages[0], readTexts('en'));

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // Pure rules share no state, so one process runs all files and imports each module once.
  test: { name: 'rules', include: ['tests/rules/**/*.test.ts'], testTimeout: 300_000, isolate: false },
});
