import { Outlet } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { useSession } from '../data/use-session.ts';
import { PageSpinner } from '../ui/page-spinner.tsx';
import { layoutWords } from '../words/layout.ts';
import { CrashScreen } from './crash-screen.tsx';
import { Footer } from './footer.tsx';
import { Header } from './header.tsx';
import { Notices } from './notices.tsx';
import { useRendersWithoutSession } from './renders-without-session.ts';
import { SessionSpinner } from './session-spinner.tsx';
import { SkipLink } from './skip-link.tsx';
import { uncaughtError } from './uncaught-error.ts';
import { usePageChange } from './use-page-change.ts';

/** Header, footer and notices around every page. */
export function Layout() {
  usePageChange();
  const uncaught = useSyncExternalStore(uncaughtError.subscribe, uncaughtError.get, () => null);
  const isStarting = useSession(({ isInitializing, token }) => isInitializing && token !== null);
  const rendersWithoutSession = useRendersWithoutSession();
  if (uncaught !== null) return <CrashScreen text={uncaught} />;
  return (
    <>
      <SkipLink />
      <Header />
      <main id="main" tabIndex={-1} className={css({ flex: '1', display: 'flex', flexDirection: 'column' })}>
        {isStarting && !rendersWithoutSession ? <PageSpinner label={layoutWords.loadingApplication} /> : <Outlet />}
      </main>
      <Footer />
      {isStarting && rendersWithoutSession && <SessionSpinner />}
      <Notices />
    </>
  );
}
