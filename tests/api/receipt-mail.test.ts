import { describe, expect, it } from 'vitest';
import { call, cronAfter, newAddress, parallel, runCron, send } from './support/api.ts';
import { complete } from './support/buying.ts';
import { day, eventually, minute } from './support/clock.ts';
import { newPerson } from './support/person.ts';
import { intercept, logLines } from './support/requests.ts';
import { during, run, sandbox } from './support/sandbox.ts';

const path = '/api/billing/withdrawal';
const newEmail = () => `ada.${crypto.randomUUID()}@example.com`;

type More = { address?: string; settings?: Record<string, string> };

const state = (email: string, { address = newAddress(), settings }: More = {}) =>
  call('POST', '/api/withdrawals', {
    body: {
      name: 'Buy at http://evil.example',
      contact: 'http://evil.example',
      plan: 'Call 900',
      email,
    },
    address,
    settings,
  });

async function buyer() {
  const person = await newPerson();
  const page = '/api/billing/create-subscription-update-session';
  const body = { tier: 'basic', startNow: true };
  await complete((await call('POST', page, { token: person.token, body })).body.portalUrl);
  return person;
}

const withdraw = (token: string, email: string) => call('POST', path, { token, body: { email } });

const queued = async (id: string) =>
  (await run('select attempts from receipt_mails where id = ?', id)).rows;

/** When the first attempt has ended, and the next one has its time. */
const triedOnce = (id: string) =>
  eventually(async () => {
    const { rows } = await run('select attempts, due_at from receipt_mails where id = ?', id);
    expect(rows).toMatchObject([{ attempts: 1 }]);
    expect(Number(rows[0]!['due_at'])).toBeLessThan(Date.now() + minute / 2);
  });

/** The only mail to an address, when it has come. */
async function mailTo(email: string) {
  await eventually(async () => expect(await sandbox.mails(email)).toHaveLength(1));
  const [mail] = await sandbox.mails(email);
  return mail!;
}

describe('the receipt of a statement goes by e-mail', () => {
  it('to the address that its person gives: the whole text, once, also for 20 callers', async () => {
    const { token, phone } = await buyer();
    const email = newEmail();
    const responses = await parallel(20, () => withdraw(token, email));
    const { body } = responses[0]!;
    const { subject, text, from } = await mailTo(email);
    expect(text).toBe(body.receipt);
    expect(text).toContain(phone);
    expect(subject).toBe('Confirmation of your withdrawal');
    expect(from).toBe('Solace <receipts@solace.example>');
    await runCron();
    expect(await sandbox.mails(email)).toHaveLength(1);
    expect(await queued(body.statement.id)).toEqual([]);
  });

  it.each([
    ['refuses', { status: 500 }],
    ['hangs up', { drop: true }],
    ['has done its work and loses the response', { cut: true }],
    ['is asked too often', { status: 429 }],
  ] as const)('once, also while the service %s', async (_, fault) => {
    const email = newEmail();
    const { body } = await during({ mail: fault }, async () => {
      const response = await state(email);
      await triedOnce(response.body.statement.id);
      return response;
    });
    await cronAfter(minute);
    await mailTo(email);
    expect(await queued(body.statement.id)).toEqual([]);
  });

  it('when its lease is over, if the request that held it was killed', async () => {
    const email = newEmail();
    const { body } = await during({ mail: { status: 503 } }, async () => {
      const response = await state(email);
      await triedOnce(response.body.statement.id);
      return response;
    });
    const lease = 'update receipt_mails set due_at = ? where id = ?';
    await run(lease, Date.now() + minute, body.statement.id);
    await runCron();
    expect(await sandbox.mails(email)).toEqual([]);
    await cronAfter(2 * minute);
    await mailTo(email);
  });

  it('for a day; then the owner is told, and nothing more is tried', async () => {
    const email = newEmail();
    const { body } = await during({ mail: { status: 500 } }, async () => {
      const response = await state(email);
      await cronAfter(day + minute);
      return response;
    });
    const { id } = body.statement;
    expect(logLines('receipt_not_mailed')).toMatchObject([{ level: 'error', id, status: 500 }]);
    expect(await queued(id)).toEqual([]);
    expect(JSON.stringify(logLines('receipt_not_mailed'))).not.toContain(email);
  });
});

describe('a service', () => {
  it('that refuses our key rings an alarm, and the mail comes when the key is right', async () => {
    const email = newEmail();
    await state(email, { settings: { MAIL_API_KEY: 'another-key-of-another-account' } });
    await eventually(() =>
      expect(logLines('mail_refused')).toMatchObject([{ level: 'error', status: 401 }]),
    );
    await cronAfter(minute);
    await mailTo(email);
  });

  it('that refuses an address for good is asked once, without an alarm', async () => {
    const { body } = await during({ mail: { status: 422 } }, async () => {
      const response = await state(newEmail());
      await eventually(() => expect(logLines('receipt_refused')).toHaveLength(1));
      return response;
    });
    expect(logLines('receipt_refused')).toMatchObject([{ level: 'info', status: 422 }]);
    await eventually(async () => expect(await queued(body.statement.id)).toEqual([]));
  });

  it('that reports an error inside a 200 has sent nothing', async () => {
    const email = newEmail();
    intercept(async (request, _, send) =>
      request.url.includes('/mail/') ? Response.json({ success: false }) : send(request),
    );
    const { body } = await state(email);
    await triedOnce(body.statement.id);
  });

  it.each([
    ['MAIL_API_URL', ''],
    ['MAIL_API_KEY', ''],
    ['MAIL_FROM', ''],
    ['MAIL_FROM', 'nobody'],
  ])(
    'that is not set up (%s “%s”) gets nothing, and no form asks for an address',
    async (name, value) => {
      const settings = { [name]: value };
      const form = (more: object) => call('GET', '/api/withdrawals', more);
      expect((await form({ settings })).body).toEqual({ success: true, email: false });
      expect((await form({})).body).toEqual({ success: true, email: true });
      const email = newEmail();
      const { status, body } = await state(email, { settings });
      expect(status).toBe(200);
      expect(await queued(body.statement.id)).toEqual([]);
      await cronAfter(minute);
      expect(await sandbox.mails(email)).toEqual([]);
    },
  );
});

describe('a stranger', () => {
  it('can send nobody a word of theirs', async () => {
    const email = newEmail();
    await state(email);
    const mail = await mailTo(email);
    const whole = JSON.stringify(mail);
    for (const word of ['evil', 'Call 900', 'http://evil']) expect(whole).not.toContain(word);
    expect(mail.subject).toBe('Confirmation of your withdrawal');
    expect(mail.text).toContain('If it was not you, you need not do anything.');
    const [link] = /\/api\/withdrawals\S+/.exec(mail.text)!;
    expect(await (await send(link)).text()).toContain('Call 900');
  });

  it.each(['en', 'es', 'pt-BR'])(
    'reaches people in the language of the page (%s)',
    async (language) => {
      const email = newEmail();
      await call('POST', '/api/withdrawals', {
        body: { name: 'Ada Lovelace', contact: email, email },
        headers: { 'accept-language': language },
      });
      const { subject } = await mailTo(email);
      const words = { en: 'withdrawal', es: 'desistimiento', 'pt-BR': 'desistência' };
      expect(subject).toContain(words[language as 'en']);
    },
  );

  it('reaches an inbox three times a day, in whatever spelling; every statement is kept', async () => {
    const email = newEmail();
    const [name, host] = email.split('@');
    const spellings = [email, email.toUpperCase(), `${name}+a@${host}`, `${name}+b@${host}`, email];
    const responses = [];
    for (const spelling of spellings) responses.push(await state(spelling));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await cronAfter(minute);
    const sent = [];
    for (const spelling of new Set(spellings.map((each) => each.toLowerCase())))
      sent.push(...(await sandbox.mails(spelling)));
    expect(sent).toHaveLength(3);
    const shapes = responses.map(({ body }) => Object.keys(body.statement));
    expect(new Set(shapes.map(String)).size).toBe(1);
  });

  it('causes five mails an hour from one address; every statement is kept', async () => {
    const address = newAddress();
    const emails = Array.from({ length: 8 }, newEmail);
    for (const email of emails) expect((await state(email, { address })).status).toBe(200);
    await cronAfter(minute);
    const counts = await Promise.all(emails.map((email) => sandbox.mails(email)));
    expect(counts.flat()).toHaveLength(5);
  });

  it('causes no mail after 300 of strangers in a day; every statement is kept', async () => {
    const fill = `insert into rate_limit_events (subject, at, by)
      select 'receipt-mails', ?, 'test' || value from json_each(?)`;
    const marks = Array.from({ length: 300 }, (_, index) => index);
    await run(fill, Date.now(), JSON.stringify(marks));
    const email = newEmail();
    const { status, body } = await state(email);
    await run("delete from rate_limit_events where by like 'test%' and subject = 'receipt-mails'");
    expect(status).toBe(200);
    expect(await queued(body.statement.id)).toEqual([]);
  });
});
