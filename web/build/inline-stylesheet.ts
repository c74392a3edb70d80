import type { Plugin } from 'vite';

/** Inlines the stylesheet into the page, which saves a request, and removes its file. */
export function inlineStylesheet(): Plugin {
  let sheet = '';
  return {
    name: 'inline-sheet',
    apply: 'build',
    generateBundle: {
      order: 'pre',
      handler(_options, bundle) {
        const files = Object.values(bundle);
        const sheets = files.filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
        sheet = sheets.map((file) => ('source' in file ? String(file.source).trim() : '')).join('');
        for (const { fileName } of sheets) delete bundle[fileName];
        for (const file of files) if (file.type === 'chunk') file.viteMetadata?.importedCss.clear();
      },
    },
    transformIndexHtml: { order: 'post', handler: () => [{ tag: 'style', children: sheet, injectTo: 'head' }] },
  };
}
