import { Suspense, lazy, useEffect, useState } from 'react';
import { notices } from '../notices.ts';

const Toasts = lazy(() => import('../ui/toaster.tsx'));

/** Loads the toaster with the first notice. */
export function Notices() {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const look = () => setWanted((before) => before || notices.waiting().length > 0);
    look();
    return notices.subscribe(look);
  }, []);
  return <Suspense>{wanted && <Toasts />}</Suspense>;
}
