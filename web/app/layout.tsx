import { Outlet, useRouter, rootRouteId, useRouterState } from '@tanstack/react-router';
import { useSyncExternalStore, Suspense, useEffect, useState } from 'react';
import { css } from '#styled/css';
import { useSession } from '../data/session.ts';
import { titleChange } from '../ui/result-page.tsx';
import { PageSpinner } from '../ui/spinner.tsx';
import { RefreshPage } from '../ui/refresh-page.tsx';
import { layoutWords } from '#words/layout';
import { CrashScreen, uncaughtError } from './error-screens.tsx';
import { showsCrisisLines } from '../rules/crash-rules.ts';
import { Footer } from './footer.tsx';
import { Header } from './header.tsx';
import { link, spinner } from '#styled/recipes';
import { lazyWithFallback } from '../data/loaded-parts.tsx';
import { loadInTime } from '../data/promise-limit.ts';
import { toasts, type Toast } from '../data/toasts.ts';

export function Layout() {
  usePageChange();
  const uncaught = useSyncExternalStore(uncaughtError.subscribe, uncaughtError.get, () => null);
  const isSwitched = useSession((session) => session.isSwitched);
  const isStarting = useSession(
    ({ isInitializing, isRedirecting, token }) =>
      isRedirecting || (isInitializing && token !== null),
  );
  const rendersWithoutSession = useRendersWithoutSession();
  if (uncaught !== null && !showsCrisisLines(location.pathname))
    return <CrashScreen text={uncaught} />;
  return (
    <>
      <Header />
      <Suspense>{isSwitched && <SwitchedNotice />}</Suspense>
      <main
        id="main"
        tabIndex={-1}
        className={css({
          flex: '1',
          display: 'flex',
          flexDirection: 'column',
        })}
      >
        {isStarting && !rendersWithoutSession ? (
          <PageSpinner label={layoutWords.loadingApplication} />
        ) : (
          <Outlet />
        )}
      </main>
      <Footer />
      {isStarting && rendersWithoutSession && <SessionSpinner />}
      <Toasts />
    </>
  );
}

function SessionSpinner() {
  return (
    <output className={floatingBox}>
      <span
        className={spinner({ size: 'sm' })}
        aria-hidden="true"
      />
      {layoutWords.loadingApplication}
    </output>
  );
}

const floatingBox = css({
  position: 'fixed',
  insetInlineEnd: '4',
  marginInlineStart: '4',
  bottom: '4',
  zIndex: 'toast',
  display: 'flex',
  alignItems: 'center',
  gap: '3',
  paddingInline: '4',
  paddingBlock: '2',
  borderRadius: 'full',
  backgroundColor: 'raised',
  color: 'muted',
  boxShadow: 'float',
  fontSize: 'sm',
  animation: '[appear 200ms 600ms backwards]',
  _forced: { borderWidth: 'thin' },
  _print: { display: 'none' },
});

const SwitchedNotice = lazyWithFallback(() => import('./switched-notice.tsx'));
const Toaster = lazyWithFallback(() => import('./toaster.tsx'), PlainToast);

/** Shows the newest toast if the toaster's file does not load. */
function PlainToast() {
  const [toast, setToast] = useState<Toast>();
  useEffect(() => {
    const show = () => {
      const newest = toasts.take().toasts.at(-1);
      if (newest) setToast(newest);
    };
    show();
    return toasts.subscribe(() => queueMicrotask(show));
  }, []);
  return (
    <output>
      {toast && (
        <span className={floatingBox}>
          {toast.description ?? toast.title}
          {toast.reloads && <RefreshPage />}
          <button
            type="button"
            className={link()}
            onClick={() => setToast(undefined)}
          >
            {layoutWords.dismiss}
          </button>
        </span>
      )}
    </output>
  );
}

function Toasts() {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const check = () => setWanted((before) => before || toasts.isWaiting());
    check();
    return toasts.subscribe(check);
  }, []);
  return <Suspense>{wanted && <Toaster />}</Suspense>;
}

function usePageChange(): void {
  const router = useRouter();
  useEffect(() => {
    const showHeadAgain = () => void showHead(location.pathname);
    if (!isHeadShown(location.pathname)) showHeadAgain();

    addEventListener(titleChange, showHeadAgain);
    const unsubscribe = router.subscribe(
      'onRendered',
      ({ pathChanged, toLocation, fromLocation }) => {
        if (!fromLocation) return;
        void showHead(toLocation.pathname).then(() => pathChanged && focusHeading());
      },
    );

    return () => {
      unsubscribe();
      removeEventListener(titleChange, showHeadAgain);
    };
  }, [router]);
}

/** Whether the head belongs to this page. A guard may have led elsewhere, and a result has its own title. */
function isHeadShown(path: string): boolean {
  if (document.querySelector('[data-result]')) return false;
  const canonical = document.querySelector<HTMLLinkElement>('link[rel=canonical]');
  return canonical === null || new URL(canonical.href).pathname === path;
}

/** Loads the heads, which the landing page does not need, and updates the page's. */
async function showHead(path: string): Promise<void> {
  const heads = await loadInTime(import('./page-heads.ts')).catch(() => null);
  heads?.updateHead(path);
}

function focusHeading(): void {
  const main = document.querySelector<HTMLElement>('main');
  const focused = document.activeElement;
  // Somebody may be in a field of the new page already.
  if (!main || (focused !== main && main.contains(focused))) return;
  const heading = main.querySelector<HTMLElement>('h1') ?? main;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page is the same for everybody. */
    rendersWithoutSession?: true;
  }
}

function useRendersWithoutSession(): boolean {
  return useRouterState({
    select: ({ matches }) => {
      const match = matches.at(-1);
      return match?.routeId === rootRouteId || match?.staticData.rendersWithoutSession === true;
    },
  });
}
