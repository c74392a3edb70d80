import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { words } from '../words.ts';

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
      <h1 className={css({ textStyle: 'title' })}>{words.frame.wrong}</h1>
      <p className={css({ color: 'muted', maxWidth: 'reading', overflowWrap: 'anywhere' })}>{text}</p>
      <button type="button" className={button()} onClick={() => location.reload()}>
        {words.frame.refreshPage}
      </button>
    </main>
  );
}
