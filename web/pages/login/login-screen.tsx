import { plans } from '#contract/plans';
import { useState } from 'react';
import { css } from '#styled/css';
import { card, page } from '#styled/recipes';
import { isPlanId } from '../../rules/after-login.ts';
import { Alert } from '../../ui/alert.tsx';
import { loginWords } from '../../words/login.ts';
import { CodeStep } from './code-step.tsx';
import { InitialContact } from './initial-contact.tsx';
import { PhoneStep } from './phone-step.tsx';
import { useLockout } from './use-lockout.ts';

type Step = 'phone' | 'code' | 'contact';

/** The three views of logging in. */
export function LoginScreen({ plan, error }: { plan: string | undefined; error: string | null }) {
  const [step, setStep] = useState<Step>('phone');
  const [phone, setPhone] = useState('');
  const [wasSent, setWasSent] = useState(false);
  const lockout = useLockout();
  const tryAnother = () => {
    setPhone('');
    setStep('phone');
  };
  return (
    <div className={page({ width: 'form' })}>
      <section className={`${card({ look: 'raised' })} ${css({ gap: '6' })}`}>
        {step === 'phone' && isPlanId(plan) && <Alert>{loginWords.plan(plans[plan].name)}</Alert>}
        {step === 'phone' && error && <Alert look="danger">{error}</Alert>}
        {step === 'phone' && (
          <PhoneStep phone={phone} setPhone={setPhone} wasSent={wasSent} setWasSent={setWasSent} goTo={setStep} />
        )}
        {step === 'code' && <CodeStep phone={phone} plan={plan} lockout={lockout} back={() => setStep('phone')} />}
        {step === 'contact' && <InitialContact phone={phone} tryAnother={tryAnother} />}
      </section>
    </div>
  );
}
