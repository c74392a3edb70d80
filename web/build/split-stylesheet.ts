import type { Plugin, Rolldown } from 'vite';
import { classLayers } from './page-styles.ts';
import { withoutUnusedVariables } from './unused-custom-properties.ts';

/**
 * Puts the stylesheet into the page, where `write-pages.ts` keeps the rules of each page, and the layers with classes
 * also into one file, which `app/apply-stylesheet.ts` applies before the app starts.
 */
export function splitStylesheet(): Plugin {
  let sheet = '';
  return {
    name: 'split-stylesheet',
    apply: 'build',
    generateBundle: {
      order: 'pre',
      handler(_options, bundle) {
        const files = Object.values(bundle);
        const sheets = files.filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
        const source = sheets.map((file) => ('source' in file ? String(file.source).trim() : '')).join('');
        sheet = withoutUnusedVariables(source);
        for (const { fileName } of sheets) delete bundle[fileName];
        for (const file of files) if (file.type === 'chunk') file.viteMetadata?.importedCss.clear();
        this.emitFile({ type: 'asset', name: 'styles.css', source: classLayers(sheet) });
      },
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) => [
        { tag: 'style', children: sheet, injectTo: 'head' },
        { tag: 'link', attrs: preload(bundle), injectTo: 'head' },
      ],
    },
  };
}

/** A low priority: the first paint needs nothing of the file. */
function preload(bundle: Rolldown.OutputBundle): Record<string, string> {
  const file = Object.keys(bundle).find((fileName) => fileName.endsWith('.css'));
  if (!file) throw new Error('The build has no stylesheet');
  return { rel: 'preload', as: 'style', fetchpriority: 'low', href: `/${file}` };
}
