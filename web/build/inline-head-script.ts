import { type Plugin, type Rolldown, build } from 'vite';

const placeholder = '<!--head-script-->';

/** Bundles a module and puts it inline into the page, so that it runs before the first paint without a request. */
export function inlineHeadScript(entry: string): Plugin {
  return {
    name: 'inline-head-script',
    transformIndexHtml: {
      order: 'pre',
      handler: async (html) => {
        const script = await bundle(entry);
        return html.replace(placeholder, () => `<script>${script}</script>`);
      },
    },
  };
}

async function bundle(entry: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    build: { write: false, lib: { entry, formats: ['iife'], name: 'head' } },
  });
  const [output] = (Array.isArray(result) ? result : [result]) as Rolldown.RolldownOutput[];
  const chunk = output?.output[0];
  if (!chunk) throw new Error(`${entry} has no output`);
  return chunk.code.trim();
}
