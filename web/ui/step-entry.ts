import { useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef } from 'react';

declare module '@tanstack/react-router' {
  interface HistoryState {
    isLaterStep?: true;
  }
}

/**
 * Gives the later step of a page an entry of the history: Back leads to the first step, not off the page. A step that a
 * load of the page brings back gets none, since browsers pass over entries that no press has made.
 */
export function useStepEntry(isLater: boolean, show: (isLater: boolean) => void) {
  const router = useRouter();
  const wasLater = useRef(isLater);
  const isOver = useRef(false);
  const isAtLater = () => router.history.location.state.isLaterStep === true;

  useEffect(() => {
    if (wasLater.current === isLater) return;
    wasLater.current = isLater;
    if (isLater === isAtLater()) return;
    if (!isLater) return router.history.back();
    const state = { isLaterStep: true } as const;
    void router.navigate({ to: '.', search: true, state, resetScroll: false });
  });

  const showMovedTo = useEffectEvent(() => {
    if (!isOver.current) show(isAtLater());
  });
  useEffect(
    () =>
      router.history.subscribe(({ action }) => {
        if (action.type !== 'PUSH' && action.type !== 'REPLACE') showMovedTo();
      }),
    [router],
  );

  /** Takes the entry back before another page replaces the first step. */
  return async function endSteps(): Promise<void> {
    if (!isAtLater()) return;
    isOver.current = true;
    const moved = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }));
    router.history.back();
    await moved;
  };
}
