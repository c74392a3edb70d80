import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Updates the document's head on each page change, and moves the focus to the heading unless the page is the first. */
export function usePageChange(): void {
  const router = useRouter();
  useEffect(() => {
    if (!isNamed(location.pathname)) void name(location.pathname);
    return router.subscribe('onRendered', ({ pathChanged, toLocation, fromLocation }) => {
      if (!fromLocation) return;
      void name(toLocation.pathname).then(() => pathChanged && focusHeading());
    });
  }, [router]);
}

/** The served HTML has the head of its own page, but a guard may redirect to another page first. */
function isNamed(path: string): boolean {
  const canonical = document.querySelector<HTMLLinkElement>('link[rel=canonical]');
  return canonical === null || new URL(canonical.href).pathname === path;
}

/** The heads of all pages load with the first navigation, because the landing page does not need them. */
async function name(path: string): Promise<void> {
  const { updateHead } = await import('./document-head.ts');
  updateHead(path);
}

function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1') ?? document.querySelector<HTMLElement>('main');
  if (!heading || heading.contains(document.activeElement)) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}
