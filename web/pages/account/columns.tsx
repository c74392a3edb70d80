import { css } from '#styled/css';

/** The two columns of the account page, stacked on a small screen. */
export const columns = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', lg: '[minmax(0, 5fr) minmax(0, 3fr)]' },
  gap: '6',
  alignItems: 'start',
});
export const column = css({ display: 'grid', gridTemplateColumns: '[minmax(0, 1fr)]', gap: '6' });
