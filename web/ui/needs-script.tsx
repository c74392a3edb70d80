import { css } from '#styled/css';
import { layoutWords } from '../words/layout.ts';

/** Explains to visitors without JavaScript why a form does not work. */
export function NeedsScript() {
  return (
    <noscript>
      <p className={css({ padding: '4', borderRadius: 'md', backgroundColor: 'warmSoft', color: 'onWarmSoft' })}>
        {layoutWords.needsScript}
      </p>
    </noscript>
  );
}
