import { useState, type FormEvent } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { contactWords } from '#words/contact';
import { useKeptForm } from '../../data/kept-form.ts';
import { showToast } from '../../data/toasts.ts';
import { Alert } from '../../ui/alert.tsx';
import { NeedsScript, TextField, TextareaField } from '../../ui/form-fields.tsx';
import { ContactMessage, sendMessage } from './contact-message.ts';

export function ContactForm() {
  const { form, errors, check, clear } = useKeptForm('contact', ContactMessage);
  const [isSending, setSending] = useState(false);
  const [hasFailed, setFailed] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSending) return;
    setFailed(false);
    const message = check(event.currentTarget);
    if (!message) return;

    setSending(true);
    await sendMessage(message).then(confirm, () => setFailed(true));
    setSending(false);
  };

  const confirm = () => {
    clear();
    showToast({ type: 'success', title: contactWords.sent, description: contactWords.sentText });
  };

  return (
    <form
      {...form}
      onSubmit={(event) => void submit(event)}
      className={css({ display: 'grid', gap: '5' })}
    >
      <NeedsScript />
      {hasFailed && <Alert look="danger">{contactWords.failed}</Alert>}
      <Fields errors={errors} />
      <button
        type="submit"
        className={button({ size: 'lg' })}
        disabled={isSending}
      >
        {isSending ? contactWords.sending : contactWords.send}
      </button>
    </form>
  );
}

type Errors = Partial<Record<string, string>>;

function Fields({ errors }: { errors: Errors }) {
  return (
    <>
      <TextField
        name="name"
        autoComplete="name"
        label={contactWords.name}
        error={errors['name']}
        required
      />
      <TextField
        name="email"
        type="email"
        autoComplete="email"
        label={contactWords.email}
        error={errors['email']}
        required
      />
      <TextField
        name="phone"
        type="tel"
        autoComplete="tel"
        label={contactWords.phone}
        error={errors['phone']}
      />
      <TextareaField
        name="message"
        rows={6}
        label={contactWords.message}
        error={errors['message']}
        required
      />
    </>
  );
}
