import { Link, useHydrated } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { openAfterLoading } from '../../data/error-toasts.ts';
import { loadAfterMount } from '../../data/loaded-parts.tsx';
import { PageSpinner } from '../../ui/spinner.tsx';
import { serverClock } from '../../data/clock.ts';
import { prepareSignIn } from '../../data/sign-in.ts';
import { addressToken } from '../../start/early-start.ts';
import { keptInTab } from '../../data/kept-in-tab.ts';
import { keptSignIn } from '../../data/kept-steps.ts';
import type { ExternalSignInProps } from './external-sign-in.tsx';
import { css } from '#styled/css';
import { card, link, page } from '#styled/recipes';
import { isPlanId, type SignInWishes } from '../../rules/destinations.ts';
import { hasCode, laterStep, type CodeLimit, type SignInStep } from '../../rules/sign-in-steps.ts';
import { Alert } from '../../ui/alert.tsx';
import { NotLoaded } from '../../ui/refresh-page.tsx';
import { useStepEntry } from '../../ui/step-entry.ts';
import { Sentence } from '../../ui/text.tsx';
import { planName } from '../../rules/plan-texts.ts';
import { loginWords } from '#words/login';
import { useLockout } from './use-lockout.ts';
import { PhoneStep } from './phone-step.tsx';
import { useSignInStep } from './use-sign-in-step.ts';

const missing = <NotLoaded />;
const signingIn = <PageSpinner label={loginWords.signingIn} />;
const ExternalSignIn = loadAfterMount<ExternalSignInProps>(() => import('./external-sign-in.tsx'), {
  loading: signingIn,
  failed: missing,
});
const loadCodeStep = () => import('./code-step.tsx');
const CodeStep = loadAfterMount(loadCodeStep, { failed: missing });
const loadContact = () => import('./initial-contact.tsx');
const InitialContact = loadAfterMount(loadContact, { failed: missing });

export function LoginPage({ wishes }: { wishes: SignInWishes }) {
  const [error, setError] = useState<string | null>(null);
  const isHydrated = useHydrated();
  const externalToken = isHydrated ? addressToken('externalToken') : null;
  // The served page does not know what the tab has kept.
  const isKept = useMemo(() => isHydrated && isWorthKeeping(keptSignIn.step()), [isHydrated]);
  if (externalToken && error === null)
    return (
      <ExternalSignIn
        token={externalToken}
        onFailure={setError}
      />
    );
  return (
    <LoginScreen
      key={String(isKept)}
      {...{ isKept, wishes, error }}
    />
  );
}

const isWorthKeeping = ({ step, limit }: SignInStep) => step !== 'phone' || limit !== null;

type Props = { isKept: boolean; wishes: SignInWishes; error: string | null };

function LoginScreen({ isKept, wishes, error }: Props) {
  const { current, change, addCode, notice } = useSignInStep(isKept);
  const { step, phone, linkCode } = current;
  const endSteps = useStepEntry(step !== 'phone', (isLater) =>
    change(isLater ? laterStep(keptSignIn.step(), serverClock.now()) : { step: 'phone' }),
  );

  const [wasSent, setWasSent] = useState(false);
  const lockout = useLockout();
  useEffect(prepareSignIn, []);

  const { limit } = current;
  const setLimit = (next: CodeLimit | null) => change({ limit: next });

  const goToCode = (number: string, challenge: string | undefined) => {
    addCode(number, challenge ?? null);
    change({ step: 'code' });
  };

  const goToContact = (number: string, shown: string | undefined) =>
    openAfterLoading(loadContact, () =>
      change({ phone: number, linkCode: shown ?? null, step: 'contact' }),
    );

  return (
    <div className={page({ width: 'form' })}>
      <section className={`${card({ look: 'raised' })} ${css({ gap: '6' })}`}>
        {step === 'phone' && (
          <>
            <PhoneNotices
              wishes={wishes}
              error={error}
              notice={notice}
            />
            <PhoneStep
              {...{ phone, wasSent, setWasSent, goToCode, goToContact, limit, setLimit }}
              prepare={() => void loadCodeStep().catch(() => null)}
              noteLost={(number) => addCode(number, null)}
              setPhone={(number) => change({ phone: number, linkCode: null })}
              hasCode={(number) => hasCode(keptSignIn.step(), number, serverClock.now())}
              openCode={(number) => change({ phone: number, step: 'code' })}
            />
          </>
        )}
        {step === 'code' && (
          <CodeStep
            {...{ current, wishes, lockout, endSteps, goToCode, limit, setLimit }}
            back={() => change({ step: 'phone' })}
          />
        )}
        {step === 'contact' && (
          <InitialContact
            {...{ phone, goToCode }}
            linkCode={linkCode ?? undefined}
            setLinkCode={(fresh) => change({ linkCode: fresh ?? null })}
            tryAnother={() => change({ phone: '', step: 'phone' })}
          />
        )}
      </section>
    </div>
  );
}

type NoticesProps = { wishes: SignInWishes; error: string | null; notice: string | undefined };

/** Says above the number why the login is shown. */
function PhoneNotices({ wishes: { plan, next }, error, notice }: NoticesProps) {
  const isOwnerAwaited = useHydrated() && keptInTab.waitsForOwner();
  return (
    <>
      {isPlanId(plan) && <Alert>{loginWords.plan(planName(plan))}</Alert>}
      {next === '/cancel' && <Alert>{loginWords.next}</Alert>}
      {next === '/withdraw' && <WithoutLogin />}
      {isOwnerAwaited && <Alert>{loginWords.kept}</Alert>}
      {error && <Alert look="danger">{error}</Alert>}
      {notice && <Alert>{notice}</Alert>}
    </>
  );
}

/** Nobody must log in to withdraw. */
function WithoutLogin() {
  const guest = (text: string) => (
    <Link
      to="/withdraw"
      className={link()}
    >
      {text}
    </Link>
  );
  return (
    <Alert>
      <Sentence parts={loginWords.nextWithdraw({ guest })} />
    </Alert>
  );
}
