import { useNavigate } from '@tanstack/react-router';
import { Suspense, lazy, useEffect, useRef, useState } from 'react';
import { clearAddressToken } from '../../start/early-start.ts';
import { notifyError, openAfterLoading } from '../../data/error-toasts.ts';
import { session, sessionReady } from '../../data/session.ts';
import { verifyExternalToken } from '../../data/sign-in.ts';
import { usePhoneText } from '../../data/phone-plans.ts';
import { phoneNumberOf } from '../../rules/token-claims.ts';
import { Unbroken } from '../../ui/text.tsx';
import { PageSpinner } from '../../ui/spinner.tsx';
import { loginWords, switchWords } from '#words/login';
import { finishSignIn } from './sign-in-toasts.ts';

const loadDialog = () => import('../../ui/dialog.tsx');
const ConfirmDialog = lazy(loadDialog);

const account = { to: '/account' } as const;

export type ExternalSignInProps = { token: string; onFailure: (message: string) => void };

/** Signs in by a token. It asks first if another number has a session here. */
export default function ExternalSignIn({ token, onFailure }: ExternalSignInProps) {
  const [currentPhone, setCurrentPhone] = useState<string | null>(null);
  const newPhone = phoneNumberOf(token);
  const currentText = usePhoneText(currentPhone);
  const newText = usePhoneText(newPhone);
  const navigate = useNavigate();
  const isStarted = useRef(false);

  const leave = (page: ReturnType<typeof finishSignIn>) => {
    clearAddressToken('externalToken');
    return navigate({ ...page, replace: true });
  };

  const exchange = async () => {
    setCurrentPhone(null);
    const { success, status, message = loginWords.unexpected } = await verifyExternalToken(token);
    if (success) return leave(finishSignIn(status));
    if (!session.get().user) {
      clearAddressToken('externalToken');
      return onFailure(message);
    }
    notifyError(new Error(message));
    return leave(account);
  };

  const begin = async () => {
    const { user } = await sessionReady();
    if (!user || user.phoneNumber === phoneNumberOf(token)) return exchange();
    const ask = () => setCurrentPhone(user.phoneNumber);
    return openAfterLoading(loadDialog, ask, () => void leave(account));
  };

  useEffect(() => {
    // A token can be used once.
    if (isStarted.current) return;
    isStarted.current = true;
    void begin();
  });

  if (currentPhone === null) return <PageSpinner label={loginWords.signingIn} />;
  const question = newPhone
    ? switchWords.text({ current: currentText, other: newText })
    : switchWords.textWithoutNumber(currentText);
  return (
    <Suspense fallback={<PageSpinner label={loginWords.signingIn} />}>
      <ConfirmDialog
        close={() => void leave(account)}
        confirm={() => void exchange()}
        title={switchWords.title}
        text={<Unbroken text={question} />}
        cancelLabel={switchWords.stay}
        confirmLabel={switchWords.confirm}
        look="primary"
      />
    </Suspense>
  );
}
