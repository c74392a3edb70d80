import type { Plugin } from 'vite';
import { bundleScript } from './bundle-script.ts';

export type ShellOptions = {
  /** The module that fills each shell with data and starts the app, by the path. */
  fillScripts: Record<string, string>;
  /** The plugins with which these modules are bundled. */
  scriptPlugins: Plugin[];
};

/** The page without the messages of `sample-chat.ts`, whose styles it keeps. */
export const withoutSample = (html: string): string =>
  html.replaceAll(/(<ol\b[^>]*data-slot="(?:history|live)">)[\s\S]*?(?=<\/ol>)/g, '$1');

/** Makes the page of a shell start by its own inline script; the script of the app is only preloaded. */
export async function shellPage(path: string, html: string, options: ShellOptions): Promise<string> {
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
