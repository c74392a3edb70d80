import { css } from '#styled/css';
import { card, page, button, link } from '#styled/recipes';
import { contactWords } from '#words/contact';
import { Link } from '@tanstack/react-router';
import { brand } from '#contract/brand';
import { isVisible } from '#contract/visible-text';
import { Icon } from '../../ui/icons.tsx';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { sendFailed } from '../../data/api-errors.ts';
import { send } from '../../data/send.ts';
import * as timeLimits from '../../data/time-limits.ts';
import { showToast } from '../../data/toasts.ts';
import { keptInTab } from '../../data/kept-in-tab.ts';
import { session, useSession } from '../../data/session.ts';
import { Alert } from '../../ui/alert.tsx';
import { NeedsScript, TextField, TextareaField } from '../../ui/form-fields.tsx';
import * as v from 'valibot';
import { contactAddress } from '../../data/build-settings.ts';

export function ContactPage() {
  return (
    <div className={page()}>
      <header
        className={css({ display: 'grid', gap: '3', maxWidth: '[40rem]', marginBottom: '8' })}
      >
        <h1 className={css({ textStyle: 'display' })}>{contactWords.title}</h1>
        <p className={css({ textStyle: 'lead', color: 'muted' })}>{contactWords.lead}</p>
      </header>
      <div className={columns}>
        <div className={card({ look: 'raised' })}>
          <ContactForm />
        </div>
        <SupportDetails />
      </div>
    </div>
  );
}

const columns = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', lg: '[minmax(0, 5fr) minmax(0, 3fr)]' },
  gap: '6',
  alignItems: 'start',
});

function SupportDetails() {
  return (
    <aside className={css({ display: 'grid', gap: '6' })} aria-label={contactWords.detailsTitle}>
      <section className={card()}>
        <h2 className={css({ textStyle: 'subheading' })}>{contactWords.detailsTitle}</h2>
        <p className={row}>
          <Icon name="mail" />
          <a href={`mailto:${brand.supportEmail}`} className={link()}>
            <bdi>{brand.supportEmail}</bdi>
          </a>
        </p>
        <p className={row}>
          <Icon name="phone" />
          <a href={`tel:${brand.businessPhone.replace(/[^\d+]/g, '')}`} className={link()}>
            <bdi>{brand.businessPhone}</bdi>
          </a>
        </p>
        <h3 className={css({ fontWeight: 'semibold' })}>{contactWords.hoursTitle}</h3>
        <p className={row}>
          <Icon name="clock" />
          {contactWords.hours}
        </p>
      </section>
      <section
        className={`${card()} ${css({ backgroundColor: 'warmSoft', color: 'onWarmSoft', borderColor: 'transparent' })}`}
      >
        <h2 className={css({ textStyle: 'subheading' })}>{contactWords.crisisTitle}</h2>
        <p>{contactWords.crisis}</p>
        <Link to="/help-now" className={button()}>
          {contactWords.help}
        </Link>
      </section>
    </aside>
  );
}

const row = css({
  display: 'flex',
  alignItems: 'center',
  gap: '3',
  color: 'muted',
  '& a': { overflowWrap: 'anywhere' },
});

const fields = ['name', 'email', 'phone', 'message'] as const;

function ContactForm() {
  const [errors, setErrors] = useState<ContactErrors>({});
  const [isSending, setSending] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  const token = useSession((session) => session.token);
  const shownFor = useRef<string | null>(null);

  useEffect(() => {
    const before = shownFor.current;
    // The page that hydrates does not know the session yet.
    shownFor.current = token ?? session.get().token;
    // After a log-out, or for another person.
    if (
      before !== null &&
      before !== shownFor.current &&
      keptInTab.read('contact', before) === null
    )
      form.current?.reset();
    fillEmptyFields(form.current, keptInTab.read('contact', shownFor.current));
  }, [token]);

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
      <button type="submit" className={button({ size: 'lg' })} disabled={isSending}>
        {isSending ? contactWords.sending : contactWords.send}
      </button>
    </form>
  );
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

export const ContactMessage = v.object({
  name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(2, contactWords.nameRule),
    v.check(isVisible, contactWords.nameRule),
  ),
  email: v.pipe(v.string(), v.trim(), v.email(contactWords.emailRule)),
  phone: v.optional(v.pipe(v.string(), v.trim())),
  message: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(10, contactWords.messageRule),
    v.check(isVisible, contactWords.messageRule),
  ),
});

export type ContactMessage = v.InferOutput<typeof ContactMessage>;
export type ContactErrors = Partial<Record<keyof ContactMessage, string>>;

function contactErrors(input: unknown): ContactErrors {
  const result = v.safeParse(ContactMessage, input, { abortPipeEarly: true });
  const nested = result.success
    ? {}
    : (v.flatten<typeof ContactMessage>(result.issues).nested ?? {});
  return Object.fromEntries(
    Object.entries(nested).map(([field, messages]) => [field, messages[0]]),
  );
}

const simulatedDelay = 1500;

/** Sends a message to the configured address; without one, sending is simulated and no call is made. */
async function sendMessage(message: ContactMessage): Promise<void> {
  if (!contactAddress) return new Promise((resolve) => void setTimeout(resolve, simulatedDelay));
  const headers = { 'Content-Type': 'application/json' };
  const response = await send(contactAddress, timeLimits.writing, {
    method: 'POST',
    headers,
    body: JSON.stringify(message),
    credentials: 'omit',
  });
  if (!(response instanceof Response)) throw sendFailed(response);
  if (!response.ok) throw new Error(`The contact address answered ${response.status}`);
}
