import { useEffect, useEffectEvent } from 'react';
import { contactState } from '../../data/sign-in.ts';

const pauseMs = 3000;
/** Somebody who has not written after two minutes may be away. */
const patientAfterMs = 120_000;
const longPauseMs = 10_000;

type Shown = { phone: string; linkCode: string | undefined };

/** Asks the server what has happened to a link code, while the page is visible. `hasLeft`: it is not shown any more. */
export function useLinkState(
  { phone, linkCode }: Shown,
  proceed: (state: string, hasLeft: () => boolean) => Promise<void> | void,
): void {
  const tell = useEffectEvent(proceed);

  useEffect(() => {
    if (!linkCode) return undefined;
    const began = performance.now();
    let timer: ReturnType<typeof setTimeout>;
    let isEnded = false;
    const ask = async () => {
      if (document.hidden) return;
      const state = await contactState(phone, linkCode);
      if (isEnded) return;
      await tell(state, () => isEnded);
      if (!isEnded) wait();
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => void ask(),
        performance.now() - began < patientAfterMs ? pauseMs : longPauseMs,
      );
    };
    wait();
    document.addEventListener('visibilitychange', wait);
    return () => {
      isEnded = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', wait);
    };
  }, [phone, linkCode]);
}
