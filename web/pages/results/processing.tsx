import { useState } from 'react';
import { ResultPage } from '../../ui/result-page.tsx';
import { processingWords } from '#words/results';
import {
  AccountOrHome,
  CheckoutUnchecked,
  refreshAfterCheckout,
  useDelayedAction,
} from './checkout-result.tsx';

export function Processing({ sessionId }: { sessionId: string | undefined }) {
  const [isComplete, setComplete] = useState(false);
  const isDone = useDelayedAction(2000, async () => {
    const found = await refreshAfterCheckout(sessionId).catch(() => null);
    setComplete(found?.isComplete === true);
  });
  if (!isDone)
    return (
      <ResultPage
        mood="busy"
        title={processingWords.title}
        text={processingWords.text}
      />
    );
  if (!isComplete) return <CheckoutUnchecked />;
  return (
    <ResultPage
      mood="good"
      title={processingWords.success}
      text={processingWords.successText}
    >
      <AccountOrHome
        account={processingWords.account}
        home={processingWords.home}
      />
    </ResultPage>
  );
}
