import { Link, useHydrated } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { askServerTime } from '../../data/api-client.ts';
import { openAfterLoading } from '../../data/error-notices.ts';
import { loadAfterMount } from '../../data/loaded-parts.tsx';
import { PageSpinner } from '../../ui/spinner.tsx';
import { serverClock } from '../../data/clock.ts';
import { session } from '../../data/session.ts';
import { prepareSignIn } from '../../data/sign-in.ts';
import { addressToken } from '../../start/early-start.ts';
import { keptInTab } from '../../data/kept-in-tab.ts';
import { keptSignIn } from '../../data/kept-steps.ts';
import type { Props as ExternalProps } from './external-sign-in.tsx';
import { css } from '#styled/css';
import { card, link, page } from '#styled/recipes';
import { isPlanId, type LoginWishes } from '../../rules/destinations.ts';
import {
  firstStep,
  hasCode,
  laterStep,
  withIssued,
  type CodeLimit,
  type SignInStep,
} from '../../rules/sign-in-steps.ts';
import { Alert } from '../../ui/alert.tsx';
import { NotLoaded } from '../../ui/refresh-page.tsx';
import { useStepEntry } from '../../ui/step-entry.ts';
import { Sentence } from '../../ui/text.tsx';
import { planName } from '../../rules/plan-texts.ts';
import { loginWords } from '#words/login';
import { useLockout } from './lockout.ts';
import { PhoneStep } from './phone-step.tsx';

const missing = <NotLoaded />;
const signingIn = <PageSpinner label={loginWords.signingIn} />;
const ExternalSignIn = loadAfterMount<ExternalProps>(() => import('./external-sign-in.tsx'), {
  loading: signingIn,
  failed: missing,
});
const loadCodeStep = () => import('./code-step.tsx');
const CodeStep = loadAfterMount(loadCodeStep, { failed: missing });
const loadContact = () => import('./initial-contact.tsx');
const InitialContact = loadAfterMount(loadContact, { failed: missing });

export function LoginPage({ wishes }: { wishes: LoginWishes }) {
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

type Props = { isKept: boolean; wishes: LoginWishes; error: string | null };

function LoginScreen({ isKept, wishes, error }: Props) {
  const { plan, next } = wishes;
  const { current, change, addCode, notice } = useSignInStep(isKept);
  const { step, phone, linkCode } = current;
  const endSteps = useStepEntry(step !== 'phone', (isLater) =>
    change(isLater ? laterStep(keptSignIn.step(), serverClock.now()) : { step: 'phone' }),
  );
  const waits = useHydrated() && keptInTab.waitsForOwner();
  const [wasSent, setWasSent] = useState(false);
  const lockout = useLockout();
  useEffect(prepareSignIn, []);
  const { limit } = current;
  const setLimit = (next: CodeLimit | null) => change({ limit: next });
  const goToCode = (number: string, challenge: string | undefined) => {
    addCode(number, challenge ?? null);
    change({ step: 'code' });
  };
  return (
    <div className={page({ width: 'form' })}>
      <section className={`${card({ look: 'raised' })} ${css({ gap: '6' })}`}>
        {step === 'phone' && isPlanId(plan) && <Alert>{loginWords.plan(planName(plan))}</Alert>}
        {step === 'phone' && next === '/cancel' && <Alert>{loginWords.next}</Alert>}
        {step === 'phone' && next === '/withdraw' && <WithoutLogin />}
        {step === 'phone' && waits && <Alert>{loginWords.kept}</Alert>}
        {step === 'phone' && error && <Alert look="danger">{error}</Alert>}
        {step === 'phone' && notice && <Alert>{notice}</Alert>}
        {step === 'phone' && (
          <PhoneStep
            {...{ phone, wasSent, setWasSent, goToCode, limit, setLimit }}
            prepare={() => void loadCodeStep().catch(() => null)}
            noteLost={(number) => addCode(number, null)}
            setPhone={(number) => change({ phone: number, linkCode: null })}
            hasCode={(number) => hasCode(keptSignIn.step(), number, serverClock.now())}
            openCode={(number) => change({ phone: number, step: 'code' })}
            goToContact={(number, shown) =>
              openAfterLoading(loadContact, () =>
                change({ phone: number, linkCode: shown ?? null, step: 'contact' }),
              )
            }
          />
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

/** A code too old by the server's clock leads back to the number. */
function useSignInStep(isKept: boolean) {
  const [current, setCurrent] = useState(() => (isKept ? keptSignIn.step() : newStep()));
  const [notice, setNotice] = useState<string>();
  const keep = (next: SignInStep) => {
    keptSignIn.keepStep(next);
    setCurrent(next);
  };
  // A response may come after a later render.
  const change = (part: Partial<SignInStep>) => keep({ ...keptSignIn.step(), ...part });
  const addCode = (phone: string, challenge: string | null) =>
    keep(withIssued(keptSignIn.step(), { phone, challenge, at: knownTime() }));

  const checkAge = useEffectEvent(() => {
    const kept = keptSignIn.step();
    const isValid = !serverClock.isKnown || hasCode(kept, kept.phone, serverClock.now());
    if (isValid || kept.step !== 'code') return;
    setNotice(loginWords.codeTooOld);
    change({ issued: [], step: 'phone' });
  });
  useEffect(() => {
    if (isKept && keptSignIn.step().step === 'code') void askServerTime().then(checkAge);
  }, [isKept]);
  return { current, change, addCode, notice };
}

const knownTime = () => (serverClock.isKnown ? serverClock.now() : null);

function newStep(): SignInStep {
  const ownNumber = session.needsCode() ? session.get().user?.phoneNumber : undefined;
  return { ...firstStep, phone: ownNumber ?? '' };
}
