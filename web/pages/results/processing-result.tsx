import { ResultPage } from '../../ui/result-page.tsx';
import { processingWords } from '../../words/results.ts';
import { AccountOrHome } from './account-or-home.tsx';
import { refreshAccount } from './refresh-account.ts';
import { useDelayedAction } from './use-delayed-action.ts';

/** The page after a return from the payment provider. */
export function Processing({ sessionId }: { sessionId: string | undefined }) {
  const isDone = useDelayedAction(2000, async () => void (await refreshAccount(sessionId).catch(() => null)));
  if (!isDone) return <ResultPage mood="busy" title={processingWords.title} text={processingWords.text} />;
  return (
    <ResultPage mood="good" title={processingWords.success} text={processingWords.successText}>
      <AccountOrHome account={processingWords.account} home={processingWords.home} />
    </ResultPage>
  );
}
