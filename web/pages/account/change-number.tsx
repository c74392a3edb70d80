import { type FormEvent, useEffect, useRef, useState } from 'react';
import * as v from 'valibot';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { readPhone } from '#contract/pasted';
import { Phone } from '#contract/schemas';
import { accountWords, changeNumberWords } from '#words/account';
import { request } from '../../data/api-client.ts';
import { keptPhoneChange } from '../../data/kept-steps.ts';
import { showToast } from '../../data/toasts.ts';
import { keepProfile } from '../../data/profile-query.ts';
import { session } from '../../data/session.ts';
import { useAction } from '../../data/use-action.ts';
import { Unbroken } from '../../ui/text.tsx';
import { loadNumberingPlans, loadedNumberingPlans, usePhoneText } from '../../data/phone-plans.ts';
import { shownCode, phoneError } from '../../rules/sign-in-rules.ts';
import { TextField } from '../../ui/form-fields.tsx';
import { useStepEntry } from '../../ui/step-entry.ts';

export default function ChangeNumber({ close: leave }: { close: () => void }) {
  const [begun, setBegun] = useState(keptPhoneChange.read);
  const [isBusy, run] = useAction();
  const [phone, setPhone] = useState(begun?.phone ?? '');
  const newPhoneText = usePhoneText(begun?.phone ?? '');
  const endSteps = useStepEntry(begun !== null, (isLater) =>
    setBegun(isLater ? keptPhoneChange.read() : null),
  );

  const close = () => {
    keptPhoneChange.remove();
    void endSteps().then(leave);
  };

  const begin = async (phone: string) => {
    const { challenge } = await request('beginPhoneChange', { phone });
    setBegun(keptPhoneChange.keep(phone, challenge));
  };

  const verify = async (otp: string) => {
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
  };

  return begun ? (
    <CodeForm
      phone={begun.phone}
      verify={(otp) => run(() => verify(otp), failed)}
      {...{ isBusy, close }}
    />
  ) : (
    <NumberForm
      begin={(number) => run(() => begin(number), failed)}
      {...{ phone, setPhone, isBusy, close }}
    />
  );
}

const failed = { title: accountWords.error, fallback: changeNumberWords.failed };

type FormProps = { isBusy: boolean; close: () => void };

type NumberProps = FormProps & {
  phone: string;
  setPhone: (phone: string) => void;
  begin: (phone: string) => void;
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
    if (checked.success) begin(checked.output);
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

type CodeProps = FormProps & { phone: string; verify: (otp: string) => void };

function CodeForm({ phone, isBusy, verify, close }: CodeProps) {
  const [code, setCode] = useState('');
  const phoneText = usePhoneText(phone);
  const input = useFocus();
  const isReady = /^\d{6}$/.test(code) && !isBusy;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) verify(code);
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
