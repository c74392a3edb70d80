import { resolve } from 'node:path';
import { defineConfig } from '@pandacss/dev';
import { startConditions, startStyles } from '../start/start-styles.ts';
import { conditions, globalCss, globalFontface, keyframes } from '../theme/global-styles.ts';
import { recipes, slotRecipes } from '../theme/recipes/index.ts';
import { semanticTokens, textStyles, tokens } from '../theme/tokens.ts';

export default defineConfig({
  include: ['./**/*.tsx'],
  exclude: ['./styled-system/**', './routeTree.gen.ts'],
  // Panda forgets its folder when it reads this file again.
  cwd: resolve('web'),
  logLevel: 'warn',
  outdir: 'styled-system',
  outExtension: 'js',
  importMap: {
    css: '#styled/css',
    recipes: '#styled/recipes',
    patterns: '#styled/patterns',
    jsx: '#styled/jsx',
  },
  presets: [],
  preflight: false,
  shorthands: false,
  strictTokens: true,
  hash: { cssVar: true, className: false },
  hooks: { 'cssgen:done': ({ content }) => withoutUnused(content) },
  conditions: { extend: { ...conditions, ...startConditions } },
  globalCss: { ...globalCss, ...startStyles },
  globalFontface,
  theme: {
    breakpoints: { sm: '30rem', md: '48rem', lg: '64rem', xl: '80rem' },
    tokens,
    semanticTokens,
    textStyles,
    keyframes,
    recipes,
    slotRecipes,
  },
});

/** Leaves out the library's signature, and its start values of variables that no rule here reads. */
function withoutUnused(css: string): string {
  return css
    .replace(/--made-with-panda:[^;]*;\s*/, '')
    .replace(/\*,\s*::?before,\s*::?after,\s*::backdrop\s*\{[^{}]*\}/, '');
}
