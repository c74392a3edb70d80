import type { Plugin } from 'vite';

const ownImport = /^import \* as __vite_react_currentExports from .*$/m;
const ownExports = 'const currentExports = __vite_react_currentExports;';
const later = 'queueMicrotask(() => {';

/**
 * For Fast Refresh a module imports itself, and Vite stamps that address with the newest edit.
 * While a page loads an edit, a second one would so be evaluated before the first, and the page
 * would keep the first. Its own address names the module itself.
 */
export function liveComponents(): Plugin {
  return {
    name: 'live-components',
    apply: 'serve',
    enforce: 'post',
    applyToEnvironment: ({ name }) => name === 'client',
    transform: {
      filter: { code: ownExports },
      handler(code) {
        const isKnown = ownImport.test(code) && code.includes(`${ownExports}\n  ${later}`);
        if (!isKnown) return this.error('The wrapper of Fast Refresh has changed.');

        const changed = code
          .replace(ownImport, '')
          .replace(ownExports, '')
          .replace(
            later,
            'RefreshRuntime.__hmr_import(import.meta.url).then((currentExports) => {',
          );
        // Its lines are where they were.
        return { code: changed, map: null };
      },
    },
  };
}
