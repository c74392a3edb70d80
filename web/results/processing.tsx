import { Spinner } from '../ui/spinner.tsx';
import { Verdict } from '../ui/verdict.tsx';
import { words } from '../words.ts';
import { AccountOrHome } from './account-or-home.tsx';
import { refreshUser } from './refresh-user.ts';
import { useAfter } from './use-after.ts';

const { processing } = words;

/** The return from the payment provider's pages. */
export function Processing() {
  const isDone = useAfter(2000, async () => void (await refreshUser().catch(() => null)));
  if (!isDone) {
    return (
      <Verdict mood="pause" title={processing.title}>
        <Spinner label={processing.text} />
      </Verdict>
    );
  }
  return (
    <Verdict mood="good" title={processing.success} text={processing.successText}>
      <AccountOrHome account={processing.account} home={processing.home} />
    </Verdict>
  );
}
