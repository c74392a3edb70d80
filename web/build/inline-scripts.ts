import { join } from 'node:path';
import { type Plugin, type Rolldown, build, defaultClientConditions } from 'vite';
import { oldestEngines } from './oldest-engines.ts';
import { wordsConditions } from './words/texts.ts';

const placeholder = '<!--head-script-->';
const jsxRuntime = join(import.meta.dirname, '../app/shell/jsx-to-dom.ts');

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

export type ShellOptions = {
  /** The module that fills each shell with data and starts the app, by the path. */
  fillScripts: Record<string, string>;
  scriptPlugins: Plugin[];
};

/** The page without the messages of `sampleChat`, whose styles it keeps. */
export const withoutSample = (html: string): string =>
  html.replaceAll(/(<ol\b[^>]*data-slot="(?:history|live)">)[\s\S]*?(?=<\/ol>)/g, '$1');

/** Makes the page of a shell start by its own inline script; the script of the app is only preloaded. */
export async function shellPage(
  path: string,
  html: string,
  options: ShellOptions,
): Promise<string> {
  const entry = options.fillScripts[path];
  if (entry === undefined) throw new Error(`${path} has no script that fills its shell`);
  const script = await bundleScript(entry, options.scriptPlugins);
  return html
    .replace(
      /<script type="module" crossorigin src="([^"]+)"><\/script>/,
      (_, file) => `<link rel="modulepreload" id="app" crossorigin href="${file}" />`,
    )
    .replace('</script>', () => `</script>\n    <script>${script}</script>`);
}
