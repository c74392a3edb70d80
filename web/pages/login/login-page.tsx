import { useHydrated } from '@tanstack/react-router';
import { useState } from 'react';
import { session } from '../../data/session.ts';
import { addressToken } from '../../data/early-start.ts';
import { ExternalSignIn } from './external-sign-in.tsx';
import { css } from '#styled/css';
import { card, page } from '#styled/recipes';
import { isPlanId, type LoginWishes } from '../../rules/destinations.ts';
import { Alert } from '../../ui/alert.tsx';
import { planName } from '../../rules/plan-texts.ts';
import { loginWords } from '#words/login';
import { CodeStep, useLockout } from './code-step.tsx';
import { InitialContact } from './initial-contact.tsx';
import { PhoneStep } from './phone-step.tsx';

/** Signs in by the external token in the address, else by a code. */
export function LoginPage({ wishes }: { wishes: LoginWishes }) {
  const [error, setError] = useState<string | null>(null);
  const isHydrated = useHydrated();
  const externalToken = isHydrated ? addressToken('externalToken') : null;
  if (externalToken && error === null)
    return <ExternalSignIn token={externalToken} onFailure={setError} />;
  return <LoginScreen wishes={wishes} error={error} />;
}

type Step = 'phone' | 'code' | 'contact';

function LoginScreen({ wishes, error }: { wishes: LoginWishes; error: string | null }) {
  const { plan, next } = wishes;
  const [step, setStep] = useState<Step>('phone');
  const [phone, setPhone] = useState(() =>
    session.needsCode() ? (session.get().user?.phoneNumber ?? '') : '',
  );
  const [wasSent, setWasSent] = useState(false);
  const [challenge, setChallenge] = useState<string>();
  const [linkCode, setLinkCode] = useState<string>();
  const lockout = useLockout();
  const goToCode = (number: string, issued: string | undefined) => {
    setPhone(number);
    setChallenge(issued);
    setStep('code');
  };
  const tryAnother = () => {
    setPhone('');
    setStep('phone');
  };
  return (
    <div className={page({ width: 'form' })}>
      <section className={`${card({ look: 'raised' })} ${css({ gap: '6' })}`}>
        {step === 'phone' && isPlanId(plan) && <Alert>{loginWords.plan(planName(plan))}</Alert>}
        {step === 'phone' && next && <Alert>{loginWords.next}</Alert>}
        {step === 'phone' && error && <Alert look="danger">{error}</Alert>}
        {step === 'phone' && (
          <PhoneStep
            {...{ phone, setPhone, wasSent, setWasSent }}
            goToContact={(number, shown) => {
              setPhone(number);
              setLinkCode(shown);
              setStep('contact');
            }}
            goToCode={goToCode}
          />
        )}
        {step === 'code' && (
          <CodeStep {...{ phone, challenge, wishes, lockout }} back={() => setStep('phone')} />
        )}
        {step === 'contact' && (
          <InitialContact {...{ phone, linkCode, setLinkCode, goToCode, tryAnother }} />
        )}
      </section>
    </div>
  );
}
