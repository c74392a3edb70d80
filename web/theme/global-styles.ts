import { defineGlobalStyles, defineKeyframes } from '@pandacss/dev';

export const globalCss = defineGlobalStyles({
  '*, *::before, *::after': {
    boxSizing: 'border-box',
    margin: '0',
    padding: '0',
    border: '0 solid',
  },
  html: {
    colorScheme: 'light dark',
    fontFamily: 'text',
    lineHeight: 'normal',
    textSizeAdjust: '100%',
    scrollPaddingTop: '6rem',
    // The chat sets what the keyboard leaves.
    '--visual-height': '100dvh',
    // The header goes where it would cover a sixth: on a low screen, and in rows of large letters.
    '--header-top': 'min(0px, 99 * (100vw - 18rem), 99 * (100vh - 26rem))',
    // A dialog takes the scroll bar away, and must not move the page.
    md: { scrollbarGutter: 'stable' },
    accentColor: 'primary',
    _calm: { scrollBehavior: 'smooth' },
    '&:root': { _print: { colorScheme: 'light', backgroundColor: '[white]' } },
  },
  body: {
    minHeight: '100dvh',
    backgroundColor: 'paper',
    color: 'text',
    fontSize: 'md',
    // A long word must not widen its column.
    overflowWrap: { base: 'break-word', _large: 'anywhere' },
    WebkitFontSmoothing: 'antialiased',
  },
  '#root': { minHeight: '100dvh', display: 'flex', flexDirection: 'column' },
  'h1, h2, h3': { font: 'inherit' },
  'p, li, dd, label, output, [data-part=helper-text]': { textWrap: 'pretty' },
  'ul, ol': { listStyle: 'none' },
  'img, svg': { display: 'block', maxWidth: 'full' },
  'button, input, select, textarea': {
    font: 'inherit',
    color: 'inherit',
    background: 'none',
    borderRadius: '0',
  },
  button: { cursor: 'pointer' },
  a: { color: 'inherit', textDecoration: 'none' },
  table: { borderCollapse: 'collapse', width: 'full' },
  '[hidden]': { display: 'none !important' },
  ':focus-visible': { outline: '3px solid', outlineColor: 'focus', outlineOffset: '3px' },
  // The page itself moves the focus there.
  '[tabindex="-1"], main, dialog': { outline: 'none' },
});

export const conditions = {
  calm: '@media (prefers-reduced-motion: no-preference)',
  forced: '@media (forced-colors: active)',
  print: '@media print',
  rtl: ':root[dir=rtl] &',
  // As at 400 %.
  zoomed: '@media (max-width: 30rem) and (max-height: 20rem)',
  // Letters of 200 % on a narrow screen: these `em` are the browser's.
  large: '@media (max-width: 19.9em)',
  unscripted: '@media (scripting: none)',
};

export const keyframes = defineKeyframes({
  spin: { to: { transform: 'rotate(360deg)' } },
  pulse: { '50%': { opacity: '0.45' } },
  breathe: {
    '0%, 100%': { transform: 'scale(0.94)', opacity: '0.5' },
    '50%': { transform: 'scale(1.06)', opacity: '0.9' },
  },
  rise: { from: { transform: 'translateY(0.75rem)', opacity: '0' } },
  appear: { from: { opacity: '0' } },
  postpone: { 'from, to': { contentVisibility: 'hidden' } },
});

const files = '../../node_modules';

/** `optional` skips a late font, so that no text moves. */
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
