import { Verdict } from '../ui/verdict.tsx';
import { processingWords } from '../words/results.ts';
import { AccountOrHome } from './account-or-home.tsx';
import { refreshUser } from './refresh-user.ts';
import { useAfter } from './use-after.ts';

/** The return from the payment provider's pages. */
export function Processing({ sessionId }: { sessionId: string | undefined }) {
  const isDone = useAfter(2000, async () => void (await refreshUser(sessionId).catch(() => null)));
  if (!isDone) return <Verdict mood="busy" title={processingWords.title} text={processingWords.text} />;
  return (
    <Verdict mood="good" title={processingWords.success} text={processingWords.successText}>
      <AccountOrHome account={processingWords.account} home={processingWords.home} />
    </Verdict>
  );
}
