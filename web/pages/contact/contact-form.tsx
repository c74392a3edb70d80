import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { contactWords } from '#words/contact';
import { keptInTab } from '../../data/kept-in-tab.ts';
import { session, useSession } from '../../data/session.ts';
import { showToast } from '../../data/toasts.ts';
import { Alert } from '../../ui/alert.tsx';
import { NeedsScript, TextField, TextareaField } from '../../ui/form-fields.tsx';
import {
  contactErrors,
  sendMessage,
  type ContactErrors,
  type ContactMessage,
} from './contact-message.ts';

const fields = ['name', 'email', 'phone', 'message'] as const;

export function ContactForm() {
  const form = useRef<HTMLFormElement>(null);
  const token = useSession((session) => session.token);
  const [errors, setErrors] = useState<ContactErrors>({});
  const [isSending, setSending] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  useKeptInput(form, token);

  const noteInput = (event: FormEvent<HTMLFormElement>) => {
    const input = readForm(event.currentTarget);
    keptInTab.keep('contact', token, input);
    const found = contactErrors(input);
    setErrors((shown) =>
      Object.fromEntries(Object.entries(shown).filter(([field]) => field in found)),
    );
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
    keptInTab.remove('contact', token);
    showToast({ type: 'success', title: contactWords.sent, description: contactWords.sentText });
  };

  return (
    <form
      ref={form}
      noValidate
      // No native submission, so that no text gets into the address before hydration.
      method="dialog"
      data-kept
      onInput={noteInput}
      onSubmit={(event) => void submit(event)}
      className={css({ display: 'grid', gap: '5' })}
    >
      <NeedsScript />
      {hasFailed && <Alert look="danger">{contactWords.failed}</Alert>}
      <Fields errors={errors} />
      <button type="submit" className={button({ size: 'lg' })} disabled={isSending}>
        {isSending ? contactWords.sending : contactWords.send}
      </button>
    </form>
  );
}

function Fields({ errors }: { errors: ContactErrors }) {
  return (
    <>
      <TextField
        name="name"
        autoComplete="name"
        label={contactWords.name}
        error={errors.name}
        required
      />
      <TextField
        name="email"
        type="email"
        autoComplete="email"
        label={contactWords.email}
        error={errors.email}
        required
      />
      <TextField
        name="phone"
        type="tel"
        autoComplete="tel"
        label={contactWords.phone}
        error={errors.phone}
      />
      <TextareaField
        name="message"
        rows={6}
        label={contactWords.message}
        error={errors.message}
        required
      />
    </>
  );
}

/** Fills in what the tab has kept for the person, and empties the form after a log-out. */
function useKeptInput(form: RefObject<HTMLFormElement | null>, token: string | null): void {
  const shownFor = useRef<string | null>(null);
  useEffect(() => {
    const before = shownFor.current;
    // The page that hydrates does not know the session yet.
    const now = token ?? session.get().token;
    shownFor.current = now;
    // After a log-out, or for another person.
    const isOther = before !== null && before !== now;
    if (isOther && keptInTab.read('contact', before) === null) form.current?.reset();
    fillEmptyFields(form.current, keptInTab.read('contact', now));
  }, [form, token]);
}

function readForm(form: HTMLFormElement): ContactMessage {
  return Object.fromEntries(new FormData(form)) as unknown as ContactMessage;
}

/** What somebody has typed before the app started stays. */
function fillEmptyFields(form: HTMLFormElement | null, draft: unknown): void {
  const values: Partial<Record<string, unknown>> = Object(draft);
  for (const name of fields) {
    const field = form?.querySelector<HTMLInputElement | HTMLTextAreaElement>(`[name=${name}]`);
    const value = values[name];
    if (field && !field.value && typeof value === 'string') field.value = value;
  }
}

function focusField(form: HTMLFormElement | null, name: string): void {
  const field = form?.querySelector<HTMLElement>(`[name=${name}]`);
  // WebKit would scroll the field to the edge, and its label below the header of the page.
  field?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: 'center', behavior: 'instant' });
}
