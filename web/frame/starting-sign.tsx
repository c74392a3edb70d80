import { css } from '#styled/css';
import { spinner } from '#styled/recipes';
import { frameWords } from '../words/frame.ts';

/** Says that a session starts, on a page that can be read meanwhile; a start that is quick passes unseen. */
export function StartingSign() {
  return (
    <output className={sign}>
      <span className={spinner({ size: 'sm' })} aria-hidden="true" />
      {frameWords.loadingApplication}
    </output>
  );
}

const sign = css({
  position: 'fixed',
  insetInlineStart: '4',
  bottom: '4',
  zIndex: 'toast',
  display: 'flex',
  alignItems: 'center',
  gap: '3',
  paddingInline: '4',
  paddingBlock: '2',
  borderRadius: 'full',
  backgroundColor: 'raised',
  color: 'muted',
  boxShadow: 'float',
  fontSize: 'sm',
  animation: '[appear 200ms 600ms backwards]',
  _forced: { borderWidth: 'thin' },
  _print: { display: 'none' },
});
