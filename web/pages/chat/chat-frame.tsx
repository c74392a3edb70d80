import { css } from '#styled/css';

/** Fills the screen below the page's header; on very low screens the page scrolls instead. */
export const chatFrame = css({
  display: 'flex',
  flexDirection: 'column',
  width: 'full',
  maxWidth: '[52rem]',
  marginInline: 'auto',
  height: '[calc(var(--visual-height, 100dvh) - 4.25rem)]',
  minHeight: '[20rem]',
  '@media (max-height: 26rem)': { height: 'auto' },
});
