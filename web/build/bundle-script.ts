import { join } from 'node:path';
import { type Plugin, type Rolldown, build } from 'vite';

const placeholder = '<!--head-script-->';
const jsxRuntime = join(import.meta.dirname, '../app/shell/jsx-runtime.ts');

/** Bundles a module and puts it inline into the page, so that it runs before the first paint without a request. */
export function inlineHeadScript(entry: string): Plugin {
  return {
    name: 'inline-head-script',
    transformIndexHtml: {
      order: 'pre',
      handler: async (html) => {
        const script = await bundleScript(entry);
        return html.replace(placeholder, () => `<script>${script}</script>`);
      },
    },
  };
}

/** One script with everything that a module imports. */
export async function bundleScript(entry: string, plugins: Plugin[] = []): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    plugins,
    resolve: { alias: { 'react/jsx-runtime': jsxRuntime } },
    build: {
      write: false,
      lib: { entry, formats: ['iife'], name: 'script' },
      rolldownOptions: { treeshake: { propertyReadSideEffects: false } },
    },
  });
  const [output] = (Array.isArray(result) ? result : [result]) as Rolldown.RolldownOutput[];
  const chunk = output?.output[0];
  if (!chunk) throw new Error(`${entry} has no output`);
  return chunk.code.trim();
}
