import { type FormEvent, useEffect, useRef, useState } from 'react';
import * as v from 'valibot';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { readPhone } from '#contract/pasted';
import { Phone } from '#contract/schemas';
import { accountWords, changeNumberWords } from '#words/account';
import { request } from '../../data/api-client.ts';
import { notifyError } from '../../data/error-toasts.ts';
import { keptPhoneChange } from '../../data/kept-steps.ts';
import { showToast } from '../../data/toasts.ts';
import { keepProfile } from '../../data/profile-query.ts';
import { session } from '../../data/session.ts';
import { Unbroken } from '../../ui/text.tsx';
import { loadNumberingPlans, loadedNumberingPlans, usePhoneText } from '../../data/phone-plans.ts';
import { shownCode, phoneError } from '../../rules/sign-in-rules.ts';
import { TextField } from '../../ui/form-fields.tsx';
import { useStepEntry } from '../../ui/step-entry.ts';

export default function ChangeNumber({ close: leave }: { close: () => void }) {
  const [begun, setBegun] = useState(keptPhoneChange.read);
  const [isBusy, setBusy] = useState(false);
  const [phone, setPhone] = useState(begun?.phone ?? '');
  const newPhoneText = usePhoneText(begun?.phone ?? '');
  const endSteps = useStepEntry(begun !== null, (isLater) =>
    setBegun(isLater ? keptPhoneChange.read() : null),
  );

  const close = () => {
    keptPhoneChange.remove();
    void endSteps().then(leave);
  };

  const perform = async (work: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    await work().catch((error: unknown) =>
      notifyError(error, { title: accountWords.error, fallback: changeNumberWords.failed }),
    );
    setBusy(false);
  };
  const begin = (phone: string) =>
    perform(async () => {
      const { challenge } = await request('beginPhoneChange', { phone });
      setBegun(keptPhoneChange.keep(phone, challenge));
    });
  const verify = (otp: string) =>
    perform(async () => {
      const { token } = session.get();
      const { phone, challenge } = begun!;
      const { profile } = await request('verifyPhoneChange', { phone, challenge, otp });
      if (token) keepProfile(token, profile);
      showToast({
        type: 'success',
        title: changeNumberWords.done,
        description: changeNumberWords.doneText(newPhoneText),
      });
      close();
    });

  return begun ? (
    <CodeForm
      phone={begun.phone}
      {...{ isBusy, verify, close }}
    />
  ) : (
    <NumberForm {...{ phone, setPhone, isBusy, begin, close }} />
  );
}

type FormProps = { isBusy: boolean; close: () => void };

type NumberProps = FormProps & {
  phone: string;
  setPhone: (phone: string) => void;
  begin: (phone: string) => Promise<void>;
};

function NumberForm({ phone, setPhone, isBusy, begin, close }: NumberProps) {
  useEffect(() => void loadNumberingPlans(), []);
  const input = useFocus();
  const [error, setError] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const checked = v.safeParse(Phone, readPhone(phone, loadedNumberingPlans()), {
      abortPipeEarly: true,
    });
    setError(checked.issues && phoneError(checked.issues[0].type));
    if (checked.success) void begin(checked.output);
  };
  return (
    <form
      noValidate
      onSubmit={submit}
      className={stack}
    >
      <TextField
        name="newPhone"
        type="tel"
        autoComplete="off"
        ref={input}
        label={changeNumberWords.phone}
        hint={changeNumberWords.phoneHint}
        value={phone}
        error={error}
        onChange={({ target }) => setPhone(target.value)}
      />
      <Buttons
        close={close}
        isDisabled={isBusy}
        label={isBusy ? changeNumberWords.sending : changeNumberWords.send}
      />
    </form>
  );
}

type CodeProps = FormProps & { phone: string; verify: (otp: string) => Promise<void> };

function CodeForm({ phone, isBusy, verify, close }: CodeProps) {
  const [code, setCode] = useState('');
  const phoneText = usePhoneText(phone);
  const input = useFocus();
  const isReady = /^\d{6}$/.test(code) && !isBusy;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) void verify(code);
  };
  return (
    <form
      noValidate
      onSubmit={submit}
      className={stack}
    >
      <p>
        <Unbroken text={changeNumberWords.lead(phoneText)} />
      </p>
      <TextField
        look="code"
        name="otp"
        type="text"
        inputMode="numeric"
        autoComplete="one-time-code"
        ref={input}
        label={changeNumberWords.code}
        value={code}
        onChange={({ target }) => setCode(shownCode(target.value))}
      />
      <Buttons
        close={close}
        isDisabled={!isReady}
        label={isBusy ? changeNumberWords.confirming : changeNumberWords.confirm}
      />
    </form>
  );
}

function Buttons({
  close,
  isDisabled,
  label,
}: {
  close: () => void;
  isDisabled: boolean;
  label: string;
}) {
  return (
    <div className={stack}>
      <button
        type="submit"
        className={button({ wide: true })}
        disabled={isDisabled}
      >
        {label}
      </button>
      <button
        type="button"
        className={button({ look: 'quiet', wide: true })}
        onClick={close}
      >
        {changeNumberWords.cancel}
      </button>
    </div>
  );
}

function useFocus() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return input;
}

const stack = css({ display: 'grid', gap: '3' });
