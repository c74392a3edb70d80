import { css } from '#styled/css';

/** The box of the status line. It keeps room for two lines on a narrow screen, so that nothing moves. */
export const statusBox = css({
  display: 'grid',
  alignContent: 'center',
  minHeight: { base: '[calc(2lh + 1.5rem)]', sm: 'auto' },
  paddingBlock: '3',
  paddingInline: '4',
  borderRadius: 'md',
  borderWidth: 'thin',
  borderColor: 'transparent',
  backgroundColor: 'primarySoft',
  '&[data-tone=warm]': { backgroundColor: 'warmSoft', color: 'onWarmSoft' },
  '&[data-tone=danger]': { borderColor: 'danger', backgroundColor: 'dangerSoft', color: 'danger' },
});
export const statusText = css({ fontWeight: 'semibold' });
export const statusHint = css({ textStyle: 'small' });
