import { basePath } from '#words/language';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { footerWords, layoutWords, notFoundWords } from '#words/layout';
import { Link } from '@tanstack/react-router';
import { ResultPage } from '../ui/result-page.tsx';
import { createStore } from '../data/store.ts';

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
      <p className={css({ color: 'muted', maxWidth: 'reading', overflowWrap: 'anywhere' })}>
        {text}
      </p>
      <button type="button" className={button()} onClick={() => location.reload()}>
        {layoutWords.refreshPage}
      </button>
      {/* A plain link, since the router itself may have failed. */}
      <a href={`${basePath}/help-now`} className={link()}>
        {footerWords.help}
      </a>
    </main>
  );
}

export function NotFound() {
  return (
    <ResultPage mood="lost" title={notFoundWords.title} text={notFoundWords.text}>
      <Link to="/" className={button()}>
        {notFoundWords.home}
      </Link>
    </ResultPage>
  );
}

const store = createStore<{ text: string | null }>({ text: null });

export const uncaughtError = {
  get: () => store.get().text,
  subscribe: store.subscribe,
};

/** Listens before the app starts, so that early errors are caught too. */
export function watchUncaughtErrors(): void {
  addEventListener('error', ({ message, error }) => {
    // Browsers report a `ResizeObserver` loop as an error, which is harmless.
    if (message.startsWith('ResizeObserver loop') || store.get().text !== null) return;
    store.set({ text: error instanceof Error ? error.message : message });
  });
}
