import { css } from '#styled/css';
import { layoutWords } from '../words/layout.ts';

/** The first element in the tab order; skips to the content. */
export function SkipLink() {
  return (
    <a href="#main" className={skip}>
      {layoutWords.skip}
    </a>
  );
}

const skip = css({
  position: 'absolute',
  insetInlineStart: '4',
  top: '[-5rem]',
  zIndex: 'toast',
  paddingInline: '5',
  paddingBlock: '3',
  borderRadius: 'full',
  backgroundColor: 'primary',
  color: 'onPrimary',
  fontWeight: 'semibold',
  _focus: { top: '4' },
});
