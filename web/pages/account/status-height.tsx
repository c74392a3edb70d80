import { css } from '#styled/css';

/** The status takes two lines on a narrow screen: the frame keeps room for them, so that nothing moves. */
export const statusHeight = css({
  display: 'grid',
  alignContent: 'center',
  minHeight: { base: '[calc(2lh + 1.5rem)]', sm: 'auto' },
  paddingBlock: '3',
});
