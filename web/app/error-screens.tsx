import { useEffect, useState } from 'react';
import { basePath } from '#words/language';
import { button, link } from '#styled/recipes';
import { footerWords, layoutWords, notFoundWords } from '#words/layout';
import { Link } from '@tanstack/react-router';
import { RefreshPage } from '../ui/refresh-page.tsx';
import { ResultPage } from '../ui/result-page.tsx';
import { loadAfterMount } from '../data/loaded-parts.tsx';
import { createStore } from '../data/store.ts';
import { correctedPath } from '../rules/addresses.ts';
import { isOwnScript, showsCrisisLines } from '../rules/crash-rules.ts';
import { errorWords } from '#words/page-errors';
import { PageSpinner } from '../ui/spinner.tsx';
import { afterCheck, partMissing } from './deployment-change.ts';
import { accountUnreached } from './guards.ts';
import { documentMarks } from '../start/protocol.ts';

const served = createStore({ lines: '' });

/** Keeps the served crisis lines; call it before React takes the page over. */
export function keepCrisisLines(): void {
  if (showsCrisisLines(location.pathname))
    served.set({ lines: document.getElementById('main')?.innerHTML ?? '' });
}

function ServedLines() {
  useEffect(() => {
    documentMarks().visitor = 'unscripted';
  }, []);
  return <div dangerouslySetInnerHTML={{ __html: served.get().lines }} />;
}

/** Shows a crash, except on the crisis page, whose lines stay as they were served. */
export function CrashScreen({ text }: { text: string }) {
  if (served.get().lines && showsCrisisLines(location.pathname)) return <ServedLines />;
  return (
    <main role="alert">
      <ResultPage
        mood="bad"
        title={layoutWords.wrong}
        text={text}
        below={
          // The router itself may have failed.
          <a
            href={`${basePath}/help-now`}
            className={link()}
          >
            {footerWords.help}
          </a>
        }
      >
        <RefreshPage look={button()} />
      </ResultPage>
    </main>
  );
}

export function RouteError({ error }: { error: unknown }) {
  if (error === accountUnreached) return <AccountUnreached />;
  const text = error instanceof Error ? error.message : String(error);
  return text === partMissing ? <PartMissing /> : <CrashScreen text={text} />;
}

const AccountUnreached = loadAfterMount(() => import('./account-unreached.tsx'), {
  loading: <PageSpinner label={layoutWords.loadingAccount} />,
  failed: <CrashScreen text={errorWords.server} />,
});

/** Waits before it says that a file is missing: leaving a page cancels its files, and a reload may follow. */
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

/** Opens an address without punctuation that a link took along, and in lower case. */
function useCorrectAddress(): void {
  useEffect(() => {
    const { pathname, search, hash } = location;
    const path = correctedPath(pathname);
    if (path !== pathname) location.replace(path + search + hash);
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

/** Notes the first uncaught error; call it before the app starts. */
export function watchUncaughtErrors(): void {
  addEventListener('error', ({ filename, error, message }) => {
    if (store.get().text !== null || !isOwnScript(filename, location.origin)) return;
    store.set({ text: error instanceof Error ? error.message : message });
  });
}
