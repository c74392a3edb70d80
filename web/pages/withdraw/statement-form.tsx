import { useEffect, useRef, useState, type FormEvent } from 'react';
import * as v from 'valibot';
import { isVisible } from '#contract/visible-text';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { withdrawWords } from '#words/withdraw';
import { request } from '../../data/api-client.ts';
import { ApiError, errorMessage } from '../../data/api-errors.ts';
import { keptInTab } from '../../data/kept-in-tab.ts';
import { useSession } from '../../data/session.ts';
import { Alert } from '../../ui/alert.tsx';
import { TextField } from '../../ui/form-fields.tsx';
import type { Receipt } from './receipt-card.tsx';

/** The statement of somebody whose contract is not known: it is accepted from everybody. */
export function StatementForm({ onDone }: { onDone: (receipt: Receipt) => void }) {
  const [errors, setErrors] = useState<Errors>({});
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string>();

  const form = useRef<HTMLFormElement>(null);
  const token = useSession((session) => session.token);

  useEffect(() => {
    fillEmptyFields(form.current, keptInTab.read('statement', token));
  }, [token]);

  const noteInput = (event: FormEvent<HTMLFormElement>) => {
    const input = readForm(event.currentTarget);
    keptInTab.keep('statement', token, input);
    const found = errorsOf(input);
    setErrors((shown) =>
      Object.fromEntries(Object.entries(shown).filter(([field]) => field in found)),
    );
  };

  const confirm = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSending) return;
    const input = readForm(event.currentTarget);
    const found = errorsOf(input);
    setErrors(found);
    setFailure(undefined);
    const [wrong] = Object.keys(found);
    if (wrong) return form.current?.querySelector<HTMLElement>(`[name=${wrong}]`)?.focus();

    setSending(true);
    const { name, contact, plan } = input;
    try {
      const sent = await request('stateWithdrawal', { name, contact, ...(plan && { plan }) });
      keptInTab.remove('statement', token);
      onDone({ state: sent.statement.state, receipt: sent.receipt });
    } catch (error) {
      setFailure(failureText(error));
      setSending(false);
    }
  };

  return (
    <form
      ref={form}
      noValidate
      // No native submission, so that no text gets into the address before hydration.
      method="dialog"
      onInput={noteInput}
      onSubmit={(event) => void confirm(event)}
      className={css({ display: 'grid', gap: '5' })}
    >
      <noscript>
        <p className={notice}>{withdrawWords.withoutScript}</p>
      </noscript>
      <p>{withdrawWords.formLead}</p>
      <StatementFields errors={errors} />
      {failure && <Alert look="danger">{failure}</Alert>}
      <button
        type="submit"
        className={button({ size: 'lg', wide: true })}
        aria-disabled={isSending}
      >
        {isSending ? withdrawWords.confirming : withdrawWords.confirm}
      </button>
    </form>
  );
}

function StatementFields({ errors }: { errors: Errors }) {
  return (
    <>
      <TextField
        name="name"
        autoComplete="name"
        label={withdrawWords.name}
        error={errors.name}
        maxLength={200}
        required
      />
      <TextField
        name="contact"
        autoComplete="tel"
        label={withdrawWords.contact}
        hint={withdrawWords.contactHint}
        error={errors.contact}
        maxLength={200}
        required
      />
      <TextField
        name="plan"
        autoComplete="off"
        label={withdrawWords.which}
        hint={withdrawWords.whichHint}
        maxLength={200}
      />
    </>
  );
}

const notice = css({
  padding: '4',
  borderRadius: 'md',
  backgroundColor: 'warmSoft',
  color: 'onWarmSoft',
});

/** The sentence about a failure; undefined if a toast has shown it. */
export function failureText(error: unknown): string | undefined {
  return error instanceof ApiError && error.isNotified ? undefined : errorMessage(error);
}

const Fields = v.object({
  name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(2, withdrawWords.nameRule),
    v.check(isVisible, withdrawWords.nameRule),
  ),
  contact: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(3, withdrawWords.contactRule),
    v.check(isVisible, withdrawWords.contactRule),
  ),
  plan: v.pipe(v.string(), v.trim()),
});

type Fields = v.InferOutput<typeof Fields>;
type Errors = Partial<Record<keyof Fields, string | undefined>>;

/** What somebody has typed before the app started stays. */
function fillEmptyFields(form: HTMLFormElement | null, kept: unknown): void {
  for (const field of form?.querySelectorAll('input') ?? []) {
    const value: unknown = Object(kept)[field.name];
    if (!field.value && typeof value === 'string') field.value = value;
  }
}

const readForm = (form: HTMLFormElement) =>
  Object.fromEntries(new FormData(form)) as unknown as Fields;

function errorsOf(input: Fields): Errors {
  const result = v.safeParse(Fields, input, { abortPipeEarly: true });
  if (result.success) return {};
  const { nested = {} } = v.flatten<typeof Fields>(result.issues);
  return Object.fromEntries(Object.entries(nested).map(([field, texts]) => [field, texts?.[0]]));
}
