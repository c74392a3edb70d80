import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { frameWords } from '../words/frame.ts';

/** The screen for what nobody caught. */
export function Crash({ text }: { text: string }) {
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
      <h1 className={css({ textStyle: 'title' })}>{frameWords.wrong}</h1>
      <p className={css({ color: 'muted', maxWidth: 'reading', overflowWrap: 'anywhere' })}>{text}</p>
      <button type="button" className={button()} onClick={() => location.reload()}>
        {frameWords.refreshPage}
      </button>
    </main>
  );
}
