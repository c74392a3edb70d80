import { errorWords } from '#words/page-errors';
import { useUnlessExpired } from '../../data/expiry.ts';
import type { CodeLimit } from '../../rules/sign-in-steps.ts';
import { Refusal } from '../../ui/refusal.tsx';
import { NotLoaded } from '../../ui/refresh-page.tsx';
import { loadAfterMount } from '../../data/loaded-parts.tsx';
import { showCodeSent } from './sign-in-toasts.ts';

const CodeByMessage = loadAfterMount(() => import('./code-by-message.tsx'), {
  failed: <NotLoaded />,
});

export type LimitProps = {
  limit: CodeLimit | null;
  setLimit: (limit: CodeLimit | null) => void;
  goToCode: (number: string, challenge: string | undefined) => void;
};

export function CodeLimitNotice({
  phone,
  limit: kept,
  setLimit,
  goToCode,
}: LimitProps & { phone: string }) {
  const limit = useUnlessExpired(kept);
  if (!limit || limit.phone !== phone) return null;
  const { until, linkCode } = limit;

  const goOn = () => {
    showCodeSent();
    goToCode(phone, linkCode ?? undefined);
  };
  return (
    <>
      <Refusal
        text={errorWords.tooManyRequests}
        until={until}
      />
      {linkCode && (
        <CodeByMessage
          {...{ phone, linkCode, goOn }}
          expire={() => setLimit({ ...limit, linkCode: null })}
        />
      )}
    </>
  );
}
