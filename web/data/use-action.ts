import { useState } from 'react';
import { notifyError, type Wording } from './error-toasts.ts';

/** Returns whether an action runs, and what runs one at a time. A toast with these words shows its error. */
export function useAction() {
  const [isBusy, setBusy] = useState(false);

  const run = (action: () => Promise<unknown>, words: Wording): void => {
    if (isBusy) return;
    setBusy(true);
    void action()
      .catch((error: unknown) => notifyError(error, words))
      .finally(() => setBusy(false));
  };
  return [isBusy, run] as const;
}
