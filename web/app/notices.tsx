import { Suspense, lazy, useEffect, useState } from 'react';
import { notices } from '../data/notices.ts';

const Toaster = lazy(() => import('./toaster.tsx'));

/** Loads the toaster when the first notice appears. */
export function Notices() {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const check = () => setWanted((before) => before || notices.isWaiting());
    check();
    return notices.subscribe(check);
  }, []);
  return <Suspense>{wanted && <Toaster />}</Suspense>;
}
