import { Outlet } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { Waiting } from '../ui/waiting.tsx';
import { useSession } from '../use-session.ts';
import { frameWords } from '../words/frame.ts';
import { useArrival } from './arrival.ts';
import { Crash } from './crash.tsx';
import { Footer } from './footer.tsx';
import { Header } from './header.tsx';
import { Notices } from './notices.tsx';
import { SkipLink } from './skip-link.tsx';
import { StartingSign } from './starting-sign.tsx';
import { uncaughtError } from './uncaught-error.ts';
import { useIsOpen } from './use-is-open.ts';

/** What surrounds every page. */
export function AppFrame() {
  useArrival();
  const uncaught = useSyncExternalStore(uncaughtError.subscribe, uncaughtError.get, () => null);
  const isStarting = useSession(({ isInitializing, token }) => isInitializing && token !== null);
  const isOpen = useIsOpen();
  if (uncaught !== null) return <Crash text={uncaught} />;
  if (isStarting && !isOpen) return <Waiting label={frameWords.loadingApplication} />;
  return (
    <>
      <SkipLink />
      <Header />
      <main id="main" tabIndex={-1} className={css({ flex: '1', display: 'flex', flexDirection: 'column' })}>
        <Outlet />
      </main>
      <Footer />
      {isStarting && <StartingSign />}
      <Notices />
    </>
  );
}
