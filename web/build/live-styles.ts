import type { Plugin } from 'vite';

const isStylesheet = (url = '') => /\.css(?:$|\?)/.test(url);

/** Vite would reload the page for a theme file. */
export function liveStyles(): Plugin {
  return {
    name: 'live-styles',
    apply: 'serve',
    applyToEnvironment: ({ name }) => name === 'client',
    hotUpdate: ({ modules }) =>
      modules.flatMap((module) => {
        const importers = [...module.importers];
        const isTheme = importers.length > 0 && importers.every(({ url }) => isStylesheet(url));
        return isTheme ? importers : [module];
      }),
  };
}
