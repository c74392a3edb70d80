import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Plugin, type Rolldown, build, defaultClientConditions } from 'vite';
import { oldestEngines } from './oldest-engines.ts';
import { wordsConditions } from './words/texts.ts';

const jsxRuntime = join(import.meta.dirname, '../app/shell/jsx-to-dom.ts');

type InlineScripts = { head: string; oldEngine: string };

/** Puts two scripts inline into the page, so that they run without a request: one before the first paint, one for old engines. */
export function inlineScripts({ head, oldEngine }: InlineScripts): Plugin {
  return {
    name: 'inline-scripts',
    transformIndexHtml: {
      order: 'pre',
      handler: async (html) => {
        const script = await bundleScript(head);
        return html
          .replace('<!--head-script-->', () => `<script>${script}</script>`)
          .replace('<!--old-engine-->', () => `<script>${withoutComments(oldEngine)}</script>`);
      },
    },
  };
}

/** The source of a script that no tool may rewrite, since each would use newer syntax. */
function withoutComments(file: string): string {
  const lines = readFileSync(file, 'utf8').split('\n');
  const code = lines.map((line) => line.trim()).filter((line) => !line.startsWith('//'));
  return code.join('\n').trim();
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
      /<script type="module" src="([^"]+)"><\/script>/,
      (_, file) => `<link rel="modulepreload" id="app" href="${file}" />`,
    )
    .replace('</script>', () => `</script>\n    <script>${script}</script>`);
}
