import { type FormEvent, useRef, useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { notify } from '../../data/notices.ts';
import { Alert } from '../../ui/alert.tsx';
import { NeedsScript } from '../../ui/needs-script.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { TextareaField } from '../../ui/textarea-field.tsx';
import { contactWords } from '../../words/contact.ts';
import { type ContactErrors, type ContactMessage, contactErrors } from './contact-rules.ts';
import { sendMessage } from './send-message.ts';

const fields = ['name', 'email', 'phone', 'message'] as const;

/** The form to write to the team. */
export function ContactForm() {
  const [errors, setErrors] = useState<ContactErrors>({});
  const [isSending, setSending] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  /** Removes the error of a field once the field is valid. */
  const recheck = (event: FormEvent<HTMLFormElement>) => {
    const found = contactErrors(readForm(event.currentTarget));
    setErrors((shown) => Object.fromEntries(Object.entries(shown).filter(([field]) => field in found)));
  };

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSending) return;
    const input = readForm(event.currentTarget);
    const found = contactErrors(input);
    setErrors(found);
    setFailed(false);
    const first = fields.find((field) => found[field]);
    if (first) return focusField(form.current, first);
    setSending(true);
    await sendMessage(input).then(confirm, () => setFailed(true));
    setSending(false);
  };

  const confirm = () => {
    form.current?.reset();
    notify({ type: 'success', title: contactWords.sent, description: contactWords.sentText });
  };

  return (
    <form
      ref={form}
      noValidate
      // No native submission, so that no text gets into the address before hydration.
      method="dialog"
      onInput={recheck}
      onSubmit={(event) => void submit(event)}
      className={css({ display: 'grid', gap: '5' })}
    >
      <NeedsScript />
      {hasFailed && <Alert look="danger">{contactWords.failed}</Alert>}
      <TextField name="name" autoComplete="name" label={contactWords.name} error={errors.name} required />
      <TextField
        name="email"
        type="email"
        autoComplete="email"
        label={contactWords.email}
        error={errors.email}
        required
      />
      <TextField name="phone" type="tel" autoComplete="tel" label={contactWords.phone} error={errors.phone} />
      <TextareaField name="message" rows={6} label={contactWords.message} error={errors.message} required />
      <button type="submit" className={button({ size: 'lg' })} disabled={isSending}>
        {isSending ? contactWords.sending : contactWords.send}
      </button>
    </form>
  );
}

function readForm(form: HTMLFormElement): ContactMessage {
  return Object.fromEntries(new FormData(form)) as unknown as ContactMessage;
}

function focusField(form: HTMLFormElement | null, name: string): void {
  form?.querySelector<HTMLElement>(`[name=${name}]`)?.focus();
}
