import { css } from '#styled/css';
import { frameWords } from '../words/frame.ts';

/** Tells those who have no JavaScript why a form does nothing. */
export function NeedsScript() {
  return (
    <noscript>
      <p className={css({ padding: '4', borderRadius: 'md', backgroundColor: 'warmSoft', color: 'onWarmSoft' })}>
        {frameWords.needsScript}
      </p>
    </noscript>
  );
}
