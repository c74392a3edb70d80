import { describe, expect, it } from 'vitest';
import { call, cronAfter, newAddress, parallel, runCron, send, vars } from './support/api.ts';
import { complete } from './support/buying.ts';
import { advanceClock, day, eventually, minute } from './support/clock.ts';
import { newPerson, userOf } from './support/person.ts';
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
  await complete(
    (
      await call('POST', page, {
        token: person.token,
        body,
      })
    ).body.portalUrl,
  );
  return person;
}

const withdraw = (token: string, email: string) =>
  call('POST', path, {
    token,
    body: { email },
  });

const queued = async (id: string) => {
  const waiting =
    'select attempts from receipt_mails where statement_id = ? and due_at is not null';
  return (await run(waiting, id)).rows;
};

/** When the first attempt at each mail of a statement has ended, and the next one has its time. */
const triedOnce = (id: string, mails = 1) =>
  eventually(async () => {
    const sql = 'select attempts, due_at from receipt_mails where statement_id = ?';
    const { rows } = await run(sql, id);
    expect(rows.map((row) => row['attempts'])).toEqual(Array(mails).fill(1));
    const latest = Math.max(...rows.map((row) => Number(row['due_at'])));
    expect(latest).toBeLessThan(Date.now() + minute / 2);
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
    await eventually(async () => expect(await queued(body.statement.id)).toEqual([]));
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
    const lease = 'update receipt_mails set due_at = ? where statement_id = ?';
    await run(lease, Date.now() + minute, body.statement.id);
    await runCron();
    expect(await sandbox.mails(email)).toEqual([]);
    await cronAfter(2 * minute);
    await mailTo(email);
  });

  it('to an address that was sealed before the pepper was rotated', async () => {
    const email = newEmail();
    const old = vars.CODE_PEPPER!.split(' ')[1]!;
    await during({ mail: { status: 503 } }, async () => {
      const { body } = await state(email, { settings: { CODE_PEPPER: old } });
      await triedOnce(body.statement.id);
    });
    await cronAfter(minute);
    await mailTo(email);
  });

  it('for a day, after which the owner is told, and nothing more is tried', async () => {
    const email = newEmail();
    const { body } = await during({ mail: { status: 500 } }, async () => {
      const response = await state(email);
      await triedOnce(response.body.statement.id);
      await cronAfter(day + minute);
      return response;
    });
    const { id } = body.statement;
    expect(logLines('receipt_not_mailed')).toMatchObject([
      {
        level: 'error',
        id,
        status: 500,
      },
    ]);
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
      expect((await form({ settings })).body).toEqual({
        success: true,
        email: false,
      });
      expect((await form({})).body).toEqual({
        success: true,
        email: true,
      });
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
      const words = {
        en: 'withdrawal',
        es: 'desistimiento',
        'pt-BR': 'desistência',
      };
      expect(subject).toContain(words[language as 'en']);
    },
  );

  it('reaches an inbox three times a day, in whatever spelling; what is more comes in one mail', async () => {
    const email = newEmail();
    const [name, host] = email.split('@');
    const spellings = [email, email.toUpperCase(), `${name}+a@${host}`, `${name}+b@${host}`, email];
    const responses = [];
    for (const spelling of spellings) responses.push(await state(spelling));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const delays = responses.map(({ body }) => body.mail.isDelayed);
    expect(delays).toEqual([false, false, false, true, true]);
    const all = new Set(spellings.map((each) => each.toLowerCase()));
    const sent = async () =>
      (await Promise.all([...all].map((each) => sandbox.mails(each)))).flat();
    await cronAfter(minute);
    await eventually(async () => expect(await sent()).toHaveLength(3));
    await cronAfter(day);
    await eventually(async () => expect(await sent()).toHaveLength(4));
    const [last] = await sandbox.mails(`${name}+b@${host}`);
    for (const { body } of responses.slice(3)) expect(last!.text).toContain(body.statement.id);
    for (const { body } of responses) expect(await queued(body.statement.id)).toEqual([]);
  });

  it('knows that Gmail reads no dots, and that it has two names', async () => {
    const name = newEmail().split('@')[0]!;
    const dotted = (after: number) => `${name.slice(0, after)}.${name.slice(after)}@gmail.com`;
    const spellings = [dotted(1), dotted(2), `${name}@googlemail.com`, `${name}@gmail.com`];
    const responses = [];
    for (const spelling of spellings) responses.push(await state(spelling));
    const delays = responses.map(({ body }) => body.mail.isDelayed);
    expect(delays).toEqual([false, false, false, true]);
  });

  it('delays nobody but the own network by many mails, and the owner is told', async () => {
    // Long ago, so that nothing here counts for another test.
    advanceClock(-2000 * day);
    const fill = `insert into receipt_mails
        (statement_id, inbox, is_own, sealed, budget, send_at, kept_until)
      select 'test' || value, 'test' || value, 0, '', 'many', ?, 9e15 from json_each(?)`;
    const marks = Array.from({ length: 300 }, (_, index) => index);
    await run(fill, Date.now(), JSON.stringify(marks));
    const [flooding, other] = [newAddress(), newAddress()];
    const flood = [];
    for (let made = 0; made < 6; made += 1)
      flood.push(await state(newEmail(), { address: flooding }));
    const elsewhere = await state(newEmail(), { address: other });
    await run("delete from receipt_mails where statement_id like 'test%'");

    expect(flood.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const delays = flood.map(({ body }) => body.mail.isDelayed);
    expect(delays).toEqual([false, false, false, true, true, true]);
    expect(elsewhere.body.mail).toMatchObject({ isDelayed: false });
    const tomorrow = Date.now() + day - minute;
    expect(Date.parse(flood[5]!.body.mail.at)).toBeGreaterThan(tomorrow);
    const told = {
      level: 'error',
      budget: 'many',
      until: flood[5]!.body.mail.at,
    };
    expect(logLines('receipt_mail_waits').at(-1)).toMatchObject(told);
  });
});

describe('the receipt of a person who confirms what a stranger has stated', () => {
  async function stated() {
    const { phone, token } = await buyer();
    const theirs = newEmail();
    const body = {
      name: 'Not Ada',
      contact: phone,
      plan: 'Call 900',
      email: theirs,
    };
    const { statement } = (await call('POST', '/api/withdrawals', { body })).body;
    return { phone, token, theirs, id: statement.id as string };
  }

  it('goes to the address that they give, and nothing of them to the stranger', async () => {
    const { phone, token, theirs, id } = await stated();
    const email = newEmail();
    const { body } = await withdraw(token, email);
    expect(body).toMatchObject({
      statement: { id, state: 'done' },
      mail: { isDelayed: false },
    });
    const own = await mailTo(email);
    expect(own.text).toBe(body.receipt);
    expect(own.text).toContain(phone);
    expect(own.text).not.toContain('Call 900');
    const other = await mailTo(theirs);
    for (const secret of [phone, phone.slice(1), 'Basic', '11.99', email])
      expect(JSON.stringify(other)).not.toContain(secret);
    await runCron();
    expect(await sandbox.mails(email)).toHaveLength(1);
    expect(await sandbox.mails(theirs)).toHaveLength(1);
  });

  it('goes nowhere if they give none', async () => {
    const { token, theirs, id } = await stated();
    const { body } = await call('POST', path, { token });
    expect(body).toMatchObject({ statement: { id }, mail: null });
    const { text } = await mailTo(theirs);
    expect(text).not.toBe(body.receipt);
    await runCron();
    expect(await sandbox.mails(theirs)).toHaveLength(1);
  });

  it('comes also if neither Stripe nor the mail service responds, and the statement takes effect', async () => {
    const email = newEmail();
    const { token, id, body } = await during({ mail: { status: 503 } }, async () => {
      const statement = await stated();
      const confirm = () => withdraw(statement.token, email);
      const { body: confirmed } = await during({ stripe: { status: 500 } }, confirm);
      await triedOnce(statement.id, 2);
      return { ...statement, body: confirmed };
    });
    expect(body).toMatchObject({ statement: { id, state: 'received' } });
    const due = 'update receipt_mails set due_at = 0 where statement_id = ? and due_at is not null';
    await run(due, id);
    await runCron();
    expect((await mailTo(email)).text).toContain(id);
    const settled = async () => {
      await run('update customers set lease_until = 0 where user_id = ?', userOf(token));
      await runCron();
      const { rows } = await run('select state from withdrawals where id = ?', id);
      expect(rows).toMatchObject([{ state: 'done' }]);
    };
    await eventually(settled);
  });
});

describe('the receipt of a repeated statement', () => {
  it('goes to each address once, whenever it is given first', { tags: ['full'] }, async () => {
    const { token } = await buyer();
    const first = await call('POST', path, { token });
    expect(first.body.mail).toBe(null);
    const [one, other] = [newEmail(), newEmail()];
    for (const email of [one, other]) {
      const responses = await parallel(10, () => withdraw(token, email));
      for (const { body } of responses)
        expect(body).toEqual({
          ...first.body,
          mail: { at: expect.any(String), isDelayed: false },
        });
    }
    await runCron();
    for (const email of [one, other]) {
      expect((await mailTo(email)).text).toBe(first.body.receipt);
      await withdraw(token, email.toUpperCase());
      await runCron();
      expect(await sandbox.mails(email)).toHaveLength(1);
    }
  });

  it('goes to ten addresses; the response says that a further one gets none', async () => {
    const { token } = await buyer();
    const mails = [];
    for (let made = 0; made < 12; made += 1)
      mails.push((await withdraw(token, newEmail())).body.mail);
    expect(mails.map((mail) => mail !== null)).toEqual([...Array(10).fill(true), false, false]);
  });
});

it('a row that somebody has changed by hand brings nobody another one’s receipt', async () => {
  const [victim, thief] = [await buyer(), newEmail()];
  const email = newEmail();
  const [own, other] = await during({ mail: { status: 503 } }, async () => {
    const responses = [await withdraw(victim.token, email), await state(thief)] as const;
    for (const { body } of responses) await triedOnce(body.statement.id);
    return responses.map(({ body }) => body.statement.id as string) as [string, string];
  });
  const columns = ['sealed', 'inbox', 'is_own', 'send_at'];
  const copied = columns.map(
    (name) => `${name} = (select ${name} from receipt_mails where statement_id = ?1)`,
  );
  const copy = `update receipt_mails set ${copied.join(', ')} where statement_id = ?2`;
  await run(copy, other, own);
  await cronAfter(minute);
  const mails = await sandbox.mails(thief);
  expect(JSON.stringify(mails)).not.toContain(victim.phone);
  expect(JSON.stringify(mails)).not.toContain(own);
  expect(await sandbox.mails(email)).toEqual([]);
  const [told] = logLines('row_not_bound');
  expect(told).toMatchObject({ level: 'error', table: 'receipt_mails' });
});
