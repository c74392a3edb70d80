export { conditions, globalCss, globalFontface, keyframes } from './global-styles.ts';
export { recipes, slotRecipes } from './recipes/index.ts';
export { semanticTokens } from './semantic-tokens.ts';
export { textStyles } from './text-styles.ts';
export { tokens } from './tokens.ts';
