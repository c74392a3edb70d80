import { join } from 'node:path';
import { type Plugin, type Rolldown, build, defaultClientConditions } from 'vite';
import { oldestEngines } from './oldest-engines.ts';
import { wordsConditions } from './words/texts.ts';

const jsxRuntime = join(import.meta.dirname, '../start/chat/jsx-to-dom.ts');

export async function bundleScript(
  entry: string,
  plugins: Plugin[] = [],
  mode: 'production' | 'development' = 'production',
): Promise<string> {
  const result = await build({
    configFile: false,
    mode,
    logLevel: 'warn',
    plugins,
    resolve: {
      alias: { 'react/jsx-runtime': jsxRuntime },
      conditions: [...wordsConditions, ...defaultClientConditions],
    },
    build: {
      write: false,
      target: oldestEngines,
      lib: { entry, formats: ['iife'], name: 'script' },
      rolldownOptions: { treeshake: { propertyReadSideEffects: false } },
    },
  });
  const [output] = (Array.isArray(result) ? result : [result]) as Rolldown.RolldownOutput[];
  const chunk = output?.output[0];
  if (!chunk) throw new Error(`${entry} has no output`);
  return chunk.code.trim();
}
