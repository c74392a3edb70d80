import { css } from '#styled/css';
import { layoutWords } from '../words/layout.ts';

/** Tells those who have no JavaScript why a form does nothing. */
export function NeedsScript() {
  return (
    <noscript>
      <p className={css({ padding: '4', borderRadius: 'md', backgroundColor: 'warmSoft', color: 'onWarmSoft' })}>
        {layoutWords.needsScript}
      </p>
    </noscript>
  );
}
