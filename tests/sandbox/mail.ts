import { randomUUID } from 'node:crypto';
import { Hono, type Context } from 'hono';
import * as v from 'valibot';
import { jsonError } from './stripe/control.ts';
import type { Setup } from './setup.ts';

const one = '[^\\s@<>,;"]+@[^\\s@<>,;"]+\\.[^\\s@<>,;"]+';
const address = new RegExp(`^(?:[^<>@]{1,100} <(${one})>|(${one}))$`);
const addressRule = 'needs to follow the `email@example.com` or `Name <email@example.com>` format.';

/** So many mails of everybody are listed. */
const newest = 20;

/** One line: a line break would begin another header of the mail. */
const line = v.pipe(v.string(), v.regex(/^[^\r\n]*$/, 'must be one line.'));
const recipient = v.pipe(v.string(), v.regex(address, addressRule));

/** What a mail service takes of a plain mail; a field that it does not know is an error here. */
const Mail = v.strictObject({
  from: v.pipe(line, v.regex(address, addressRule)),
  to: v.union([recipient, v.pipe(v.array(recipient), v.minLength(1), v.maxLength(50))]),
  subject: v.pipe(line, v.minLength(1), v.maxLength(998)),
  text: v.pipe(v.string(), v.minLength(1)),
});

type Mail = v.InferOutput<typeof Mail>;
type Received = Mail & { id: string; at: string };

const addressOf = (text: string) => {
  const [, named, plain] = address.exec(text) ?? [];
  return (named ?? plain ?? '').toLowerCase();
};

/**
 * A mail service as its public interface describes it (https://resend.com/docs/api-reference): a named caller, a bearer
 * key, a verified sender, and an `Idempotency-Key` under which a mail is sent once. Every address has an inbox.
 */
export function createMail({ store, secrets }: Setup): Hono {
  const { MAIL_API_KEY: key, MAIL_FROM: sender } = secrets;
  const inbox = (email: string) => `mail:${email.toLowerCase()}`;
  const app = new Hono();

  app.post('/mail/emails', async (c) => {
    // https://resend.com/docs/knowledge-base/403-error-1010
    if (!c.req.header('user-agent')) throw refusal(403, 'access_denied', 'error code: 1010');
    authenticate(c, key);
    const id = c.req.header('idempotency-key');
    if (id !== undefined && (id.length === 0 || id.length > 256))
      throw refusal(400, 'invalid_idempotency_key', 'The key must be between 1-256 chars.');

    const mail = await readMail(c);
    if (domainOf(mail.from) !== domainOf(sender))
      throw refusal(403, 'validation_error', `The ${domainOf(mail.from)} domain is not verified.`);

    const text = JSON.stringify(mail);
    const earlier =
      id &&
      store.get<{
        id: string;
        text: string;
      }>('mail-keys', id);
    if (earlier && earlier.text !== text)
      throw refusal(
        409,
        'invalid_idempotent_request',
        'Same idempotency key used with a different request payload.',
      );
    if (earlier) return c.json({ id: earlier.id });

    const received: Received = {
      id: randomUUID(),
      at: new Date().toISOString(),
      ...mail,
    };
    store.transaction(() => {
      store.put('mails', received.id, received);
      for (const to of [mail.to].flat()) store.put(inbox(addressOf(to)), received.id, received);
      if (id) store.put('mail-keys', id, { id: received.id, text });
    });
    return c.json({ id: received.id });
  });

  app.get('/mail', (c) => c.json(store.list('mails').slice(-newest)));
  app.get('/mail/:address', (c) => c.json(store.list(inbox(c.req.param('address')))));
  return app;
}

const domainOf = (text: string) => addressOf(text).split('@')[1];

function authenticate(c: Context, key: string): void {
  const given = c.req.header('authorization');
  if (given === undefined) throw refusal(401, 'missing_api_key', 'Missing API Key');
  if (given !== `Bearer ${key}`) throw refusal(401, 'validation_error', 'API key is invalid');
}

async function readMail(c: Context): Promise<Mail> {
  const isJson = /^application\/json\b/.test(c.req.header('content-type') ?? '');
  const body: unknown = isJson ? await c.req.json().catch(() => null) : null;
  const { success, output, issues } = v.safeParse(Mail, body);
  if (success) return output;
  const [{ message }] = issues;
  const field = v.getDotPath(issues[0]);
  const isMissing = field !== null && Object(body)[field] === undefined;
  if (isMissing) throw refusal(422, 'missing_required_field', `Missing \`${field}\` field.`);
  throw refusal(422, 'validation_error', `Invalid \`${field ?? 'body'}\` field. ${message}`);
}

const refusal = (statusCode: 400 | 401 | 403 | 409 | 422, name: string, message: string) =>
  jsonError(statusCode, { statusCode, name, message });
