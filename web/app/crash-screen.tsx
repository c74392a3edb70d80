import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { footerWords, layoutWords } from '../words/layout.ts';

/** The screen for an uncaught error. */
export function CrashScreen({ text }: { text: string }) {
  return (
    <main
      role="alert"
      className={css({
        display: 'grid',
        placeContent: 'center',
        justifyItems: 'center',
        gap: '5',
        minHeight: '[100dvh]',
        padding: '6',
        textAlign: 'center',
      })}
    >
      <h1 className={css({ textStyle: 'title' })}>{layoutWords.wrong}</h1>
      <p className={css({ color: 'muted', maxWidth: 'reading', overflowWrap: 'anywhere' })}>{text}</p>
      <button type="button" className={button()} onClick={() => location.reload()}>
        {layoutWords.refreshPage}
      </button>
      {/* A plain link, since the router itself may have failed. */}
      <a href="/help-now" className={link()}>
        {footerWords.help}
      </a>
    </main>
  );
}
