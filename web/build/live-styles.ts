import type { Plugin } from 'vite';

const isStylesheet = (url = '') => /\.css(?:$|\?)/.test(url);

/**
 * Replaces the stylesheet after an edit of the theme. Vite reloads the page instead, for every file other than CSS that
 * only stylesheets depend on.
 */
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
