import { useState, type FormEvent } from 'react';
import * as v from 'valibot';
import { isVisible } from '#contract/visible-text';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { withdrawWords } from '#words/withdraw';
import { request } from '../../data/api-client.ts';
import { failureOf } from '../../data/error-toasts.ts';
import { useKeptForm } from '../../data/kept-form.ts';
import { session } from '../../data/session.ts';
import { TextField } from '../../ui/form-fields.tsx';
import type { RefusalText } from '../../ui/refusal.tsx';
import { EmailField, EmailRule } from './email-field.tsx';
import { ExpiringRefusal } from './expiring-refusal.tsx';
import type { Receipt } from './receipt-card.tsx';

/** The statement of somebody whose contract is not known: it is accepted from everybody. */
export function StatementForm({ onDone }: { onDone: (receipt: Receipt) => void }) {
  const known = { contact: session.get().user?.phoneNumber ?? undefined };
  const { form, errors, check, clear } = useKeptForm('statement', Fields, known);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<RefusalText | null>(null);

  const confirm = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSending) return;
    setFailure(null);
    const typed = check(event.currentTarget);
    if (!typed) return;

    setSending(true);
    const { name = '', contact = '', plan, email } = typed;
    try {
      const sent = await request('stateWithdrawal', {
        name,
        contact,
        ...(plan && { plan }),
        ...(email && { email }),
      });
      clear();
      onDone({
        state: sent.statement.state,
        receipt: sent.receipt,
        ...(email && { mail: sent.mail }),
      });
    } catch (error) {
      setFailure(failureOf(error));
      setSending(false);
    }
  };

  return (
    <form
      {...form}
      onSubmit={(event) => void confirm(event)}
    >
      <noscript>
        <p className={notice}>{withdrawWords.withoutScript}</p>
      </noscript>
      <div className={fields}>
        <p>{withdrawWords.formLead}</p>
        <StatementFields errors={errors} />
        <ExpiringRefusal failure={failure} />
        <button
          type="submit"
          className={button({ size: 'lg', wide: true })}
          aria-disabled={isSending}
        >
          {isSending ? withdrawWords.confirming : withdrawWords.confirm}
        </button>
      </div>
    </form>
  );
}

function StatementFields({ errors }: { errors: Partial<Record<string, string>> }) {
  return (
    <>
      <TextField
        name="name"
        autoComplete="name"
        label={withdrawWords.name}
        error={errors['name']}
        maxLength={200}
        required
      />
      <TextField
        name="contact"
        autoComplete="tel"
        label={withdrawWords.contact}
        hint={withdrawWords.contactHint}
        error={errors['contact']}
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
      <EmailField error={errors['email']} />
    </>
  );
}

/** Without scripts it would send nothing. */
const fields = css({ display: 'grid', gap: '5', _unscripted: { display: 'none' } });

const notice = css({
  padding: '4',
  borderRadius: 'md',
  backgroundColor: 'warmSoft',
  color: 'onWarmSoft',
});

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
  email: EmailRule,
});
