import { useUnlessExpired } from '../../data/expiry.ts';
import { Refusal, type RefusalText } from '../../ui/refusal.tsx';

/** The sentence about a failure, until the time has come when it holds no more. */
export function ExpiringRefusal({ failure }: { failure: RefusalText | null }) {
  const shown = useUnlessExpired(failure);
  return shown && <Refusal {...shown} />;
}
