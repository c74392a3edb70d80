import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { showHead } from '../head/show-head.ts';

/** Names each page as it is reached, and moves the focus to its heading unless it is the first. */
export function useArrival(): void {
  const router = useRouter();
  useEffect(() => {
    showHead(router.state.location.pathname);
    return router.subscribe('onRendered', ({ pathChanged, toLocation, fromLocation }) => {
      showHead(toLocation.pathname);
      if (pathChanged && fromLocation) focusHeading();
    });
  }, [router]);
}

function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('main');
  if (!heading || heading.contains(document.activeElement)) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}
