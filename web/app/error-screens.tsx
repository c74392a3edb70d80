import { useEffect, useState } from 'react';
import { basePath } from '#words/language';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { footerWords, layoutWords, notFoundWords } from '#words/layout';
import { Link } from '@tanstack/react-router';
import { ResultPage } from '../ui/result-page.tsx';
import { createStore } from '../data/store.ts';
import { plainPath } from '../rules/browser-input.ts';
import { isOwnScript, showsCrisisLines } from '../rules/own-errors.ts';
import { errorWords } from '#words/page-errors';
import { PageSpinner } from '../ui/spinner.tsx';
import { afterCheck, partMissing } from './deployment-change.ts';

/** The crisis lines as they were served; empty on other pages. */
const served = createStore({ lines: '' });

/** Keeps the crisis lines of a page that was served with them. Call it before React takes the page over. */
export function keepCrisisLines(): void {
  if (showsCrisisLines(location.pathname))
    served.set({ lines: document.getElementById('main')?.innerHTML ?? '' });
}

/** What needs scripts is hidden. */
function ServedLines() {
  useEffect(() => {
    document.documentElement.dataset['visitor'] = 'unscripted';
  }, []);
  return <div dangerouslySetInnerHTML={{ __html: served.get().lines }} />;
}

/** On the page of the crisis lines they stay as they were served, whatever has failed. */
export function CrashScreen({ text }: { text: string }) {
  if (served.get().lines && showsCrisisLines(location.pathname)) return <ServedLines />;
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
      <button
        type="button"
        className={button()}
        onClick={() => location.reload()}
      >
        {layoutWords.refreshPage}
      </button>
      {/* A plain link, since the router itself may have failed. */}
      <a
        href={`${basePath}/help-now`}
        className={link()}
      >
        {footerWords.help}
      </a>
    </main>
  );
}

/** Stands for a page whose route has failed. */
export function RouteError({ error }: { error: unknown }) {
  const text = error instanceof Error ? error.message : String(error);
  return text === partMissing ? <PartMissing /> : <CrashScreen text={text} />;
}

/** The visitor may be leaving this page already, which cancels its files, or it loads itself again in a moment. */
function PartMissing() {
  const [isLasting, setLasting] = useState(false);
  useEffect(() => {
    let isShown = true;
    void afterCheck().then(() => isShown && setLasting(true));
    return () => {
      isShown = false;
    };
  }, []);
  if (isLasting) return <CrashScreen text={errorWords.network} />;
  return <PageSpinner label={layoutWords.loadingPage} />;
}

/** A link takes the punctuation of its sentence along, and a phone's keyboard begins with a capital: no page has either. */
function useCorrectAddress(): void {
  useEffect(() => {
    const { pathname, search, hash } = location;
    const plain = plainPath(pathname);
    if (plain !== pathname) location.replace(plain + search + hash);
  }, []);
}

export function NotFound() {
  useCorrectAddress();
  return (
    <ResultPage
      mood="lost"
      title={notFoundWords.title}
      text={notFoundWords.text}
    >
      <Link
        to="/"
        className={button()}
      >
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
  addEventListener('error', ({ filename, error, message }) => {
    if (store.get().text !== null || !isOwnScript(filename, location.origin)) return;
    store.set({ text: error instanceof Error ? error.message : message });
  });
}
