import { useState, type MouseEvent } from 'react';
import { request } from '../../data/api-client.ts';
import { ApiError } from '../../data/api-error.ts';
import { failureOf } from '../../data/error-toasts.ts';
import { showToast } from '../../data/toasts.ts';
import { refetchProfile } from '../../data/profile-query.ts';
import { useUnlessExpired } from '../../data/expiry.ts';
import { formatDate } from '../../rules/formats.ts';
import type { RefusalText } from '../../ui/refusal.tsx';
import { cancelWords } from '#words/cancel';

type PlanChange = 'cancelPlan' | 'resumePlan';

export function useCancellation(refetchSubscription: () => Promise<void>) {
  const [hasCancelled, setCancelled] = useState(false);
  const [running, setRunning] = useState<PlanChange | null>(null);
  const [failure, setFailure] = useState<RefusalText | null>(null);

  const run = async (change: PlanChange, work: () => Promise<void>) => {
    setRunning(change);
    setFailure(null);
    await work().catch(async (error: unknown) => {
      setFailure(failureIn(error));
      if (isConflict(error)) await refresh();
    });
    setRunning(null);
  };

  const refresh = () => Promise.all([refetchProfile(), refetchSubscription()]);

  const cancel = async () => {
    const { cancelAtDate } = await request('cancelPlan');
    await refresh();
    setCancelled(true);
    const description = cancelWords.doneText(formatDate(cancelAtDate));
    showToast({ type: 'success', title: cancelWords.done, description });
  };

  const resume = async () => {
    await request('resumePlan');
    await refresh();
    setCancelled(false);
    showToast({ type: 'success', title: cancelWords.kept, description: cancelWords.keptText });
  };

  /** The second half of a double click must not undo the first. */
  const once = (change: PlanChange, work: () => Promise<void>) => (event: MouseEvent) => {
    if (running === null && event.detail < 2) void run(change, work);
  };

  return {
    hasCancelled,
    running,
    failure: useUnlessExpired(failure),
    cancel: once('cancelPlan', cancel),
    resume: once('resumePlan', resume),
  };
}

const isConflict = (error: unknown) => error instanceof ApiError && error.code === 'conflict';

/** Null if a toast has said it. */
function failureIn(error: unknown): RefusalText | null {
  const failure = failureOf(error);
  if (failure && isConflict(error)) return { text: cancelWords.nothing, until: null };
  const isUncertain = error instanceof ApiError && error.isOutage && error.code !== 'network';
  if (failure && isUncertain) return { text: cancelWords.noAnswer, until: null };
  return failure;
}
