export { conditions } from './conditions.ts';
export { globalCss } from './global-css.ts';
export { globalFontface } from './fonts.ts';
export { keyframes } from './motion.ts';
export { recipes, slotRecipes } from './recipes/index.ts';
export { semanticTokens } from './semantic-tokens.ts';
export { textStyles } from './text-styles.ts';
export { tokens } from './tokens.ts';
