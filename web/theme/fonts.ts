const files = '../../node_modules';

/**
 * Fonts from our own origin. `font-display: optional` skips a late one for this visit, so that the text does not move.
 */
export const globalFontface = {
  'Figtree Variable': {
    src: `url(${files}/@fontsource-variable/figtree/files/figtree-latin-wght-normal.woff2) format('woff2')`,
    fontWeight: '300 900',
    fontStyle: 'normal',
    fontDisplay: 'optional',
  },
  'Young Serif': {
    src: `url(${files}/@fontsource/young-serif/files/young-serif-latin-400-normal.woff2) format('woff2')`,
    fontWeight: '400',
    fontStyle: 'normal',
    fontDisplay: 'optional',
  },
} as const;
