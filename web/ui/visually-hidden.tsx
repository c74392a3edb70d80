import { css } from '#styled/css';

/** For text that only screen readers announce. */
export const visuallyHidden = css({
  position: 'absolute',
  width: '[1px]',
  height: '[1px]',
  overflow: 'hidden',
  clipPath: 'inset(50%)',
  whiteSpace: 'nowrap',
});
