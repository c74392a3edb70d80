import { css } from '#styled/css';
import { spinner } from '#styled/recipes';
import { layoutWords } from '../words/layout.ts';

/** Shows that the session is starting, beside a page that is already readable; appears after 600 ms. */
export function SessionSpinner() {
  return (
    <output className={sign}>
      <span className={spinner({ size: 'sm' })} aria-hidden="true" />
      {layoutWords.loadingApplication}
    </output>
  );
}

const sign = css({
  position: 'fixed',
  insetInlineEnd: '4',
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
