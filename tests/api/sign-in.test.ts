import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  botCall,
  call,
  hex,
  parallel,
  newAddress,
  runCron,
  type Settings,
  tally,
} from './support/api.ts';
import { consent } from './support/chat.ts';
import { advanceClock, minute, second } from './support/clock.ts';
import {
  claimNumber,
  type Code,
  newCode,
  otherThan,
  redeem,
  requestCode,
  requestOtp,
  verifyOtp,
} from './support/codes.ts';
import { newContact, newPhone } from './support/contacts.ts';
import { externalSession, getMe, newPerson, userOf } from './support/person.ts';
import { costOf, expectUnavailable, logLines } from './support/requests.ts';
import { columnsWith, during, newestCode, run, sandbox } from './support/sandbox.ts';

/** The one response to every code that is not right. */
const text = '{"success":false,"code":"invalid_code","message":"Invalid code. Please try again."}';
const invalid = { status: 401, text };
/** The response to any code for a challenge that is used up or too old. */
const spent = {
  status: 401,
  body: {
    success: false,
    code: 'code_spent',
    message: 'This code can no longer be used. Please ask for a new one.',
  },
};

describe('requesting a code', () => {
  it('sends one WhatsApp message to somebody who has written', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const answers = await parallel(50, () => requestOtp(phone));
    expect(tally(answers)).toEqual({ 200: 1, 429: 49 });
    const { body } = answers.find(({ status }) => status === 200)!;
    expect(body).toMatchObject({
      success: true,
      requiresInitialContact: false,
    });
    expect(await sandbox.messages(phone)).toMatchObject([
      { code: expect.stringMatching(/^\d{6}$/) },
    ]);
  });

  it('waits 30 seconds between two codes, and sends five an hour and ten a day', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const waits: number[] = [];
    for (let codes = 1; codes <= 10; codes += 1) {
      expect((await requestOtp(phone)).status).toBe(200);
      advanceClock(second);
      const { status, headers } = await requestOtp(phone);
      expect(status).toBe(429);
      waits.push(Number(headers.get('retry-after')));
      advanceClock(waits.at(-1)! * second);
    }
    const [hour, day] = [3600, 86_400];
    const fourAndThen = (wait: number) => [29, 29, 29, 29, wait - 4 * 30 - 1];
    expect(waits).toEqual([...fourAndThen(hour), ...fourAndThen(day - hour)]);
    expect((await requestOtp(phone)).status).toBe(200);
  });
});

describe('a pasted number and code', () => {
  it('are read as people see them: without what is invisible, with other digits, without a trunk prefix', async () => {
    const { phone } = await newContact(`+49151${newPhone().slice(-8)}`);
    const national = phone.slice(3);
    const { body } = await requestOtp(
      `\u202atel:+49 (0)${national.slice(0, 3)}/${national.slice(3)}\u202c`,
    );
    expect(body).toMatchObject({
      success: true,
      requiresInitialContact: false,
    });
    const [message] = await sandbox.messages(phone);
    const inArabic = message!.code!.replaceAll(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]!);
    const answer = await verifyOtp(
      `+490${national}`,
      `*${inArabic.slice(0, 3)}\u00a0${inArabic.slice(3)}*`,
    );
    expect(answer.status).toBe(200);
  });

  it.each([
    ['Benin', '+22997', '+2290197'],
    ["Côte d'Ivoire", '+22507', '+2250707'],
  ])('of %s name one person before and after the change of its plan', async (_, before, after) => {
    const rest = newPhone().slice(-6);
    await newContact(before + rest);
    const { body } = await requestOtp(after + rest);
    expect(body).toMatchObject({
      success: true,
      requiresInitialContact: false,
    });
  });
});

describe('verifying a code', () => {
  it('opens a session with a three-part token that knows no phone number', async () => {
    // The session begins and its token is issued within one second.
    advanceClock(0);
    const { phone, token } = await newPerson();
    expect(token.split('.')).toHaveLength(3);
    expect(decodeProtectedHeader(token)).toMatchObject({
      alg: 'HS256',
      kid: 'new',
    });
    const claims = decodeJwt(token);
    expect(Object.keys(claims).toSorted()).toEqual(['exp', 'iat', 'sid', 'sub']);
    expect(claims.exp! - claims.iat!).toBe(30 * 86_400);
    expect(JSON.stringify(claims)).not.toContain(phone.slice(1));
    const { profile } = (await getMe(token)).body;
    expect(profile).toMatchObject({
      phoneNumber: phone,
      status: 'approved',
      isTrial: false,
    });
  });

  it('refuses wrong, used, expired and never sent codes, and any after five wrong tries, with the same bytes', async () => {
    const [wrong, used, expired] = [await newCode(), await newCode(), await newCode()];
    await verifyOtp(used.phone, used.otp);
    for (const answer of await parallel(50, () => verifyOtp(wrong.phone, otherThan(wrong.otp))))
      expect(answer).toMatchObject(invalid);
    for (const { phone, otp } of [wrong, used])
      expect(await verifyOtp(phone, otp)).toMatchObject(invalid);
    expect(await verifyOtp(newPhone(), '123456')).toMatchObject(invalid);
    advanceClock(5 * minute + second);
    expect(await verifyOtp(expired.phone, expired.otp)).toMatchObject(invalid);
  });

  it('signs in once for fifty right tries at once, with the challenge, without it, or both, by one database request each', async () => {
    for (const hasChallenge of [() => 0, () => 1, (index: number) => index % 2]) {
      const code = await newCode();
      const answers = await parallel(50, (index) =>
        hasChallenge(index) ? redeem(code) : verifyOtp(code.phone, code.otp),
      );
      expect(tally(answers)).toEqual({ 200: 1, 401: 49 });
      expect(new Set(answers.map(costOf))).toEqual(new Set([1]));
    }
  });
});

describe('signing in, and the database loses its response', () => {
  it('uses the code up for one session, and the next code opens another', async () => {
    advanceClock(0);
    const code = await newCode();
    const lost = { libsql: { cut: true, match: code.phone } } as const;
    expectUnavailable(await during(lost, () => redeem(code)));
    expect(await redeem(code)).toMatchObject(invalid);
    const sql =
      'select 1 from sessions join users on users.id = sessions.user_id where users.phone = ?';
    expect((await run(sql, code.phone)).rows).toHaveLength(1);
    advanceClock(31 * second);
    expect((await redeem(await requestCode(code.phone))).status).toBe(200);
  });

  it('lets the owner of a claimed number in by the next code, also if the account was created', async () => {
    advanceClock(0);
    for (const match of ['delete from \\"codes\\"', 'insert into \\"users\\"']) {
      const { phone, otp, linkCode } = await claimNumber();
      const code = { phone, otp, challenge: linkCode };
      expectUnavailable(
        await during(
          {
            libsql: {
              cut: true,
              match,
            },
          },
          () => redeem(code),
        ),
      );
      expect(await redeem(code)).toMatchObject({ status: 401 });
      advanceClock(31 * second);
      const isCreated = match.startsWith('insert');
      const next = isCreated ? await requestCode(phone) : await claimNumber(phone);
      const challenge = 'linkCode' in next ? next.linkCode : next.challenge;
      expect(
        (
          await redeem({
            phone,
            otp: next.otp,
            challenge,
          })
        ).status,
      ).toBe(200);
    }
  });
});

describe('a challenge', () => {
  it('keeps its code through newer codes and all wrong tries that strangers have in a day', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const owner = await requestCode(phone);
    await parallel(5, () => verifyOtp(phone, otherThan(owner.otp)));
    expect((await verifyOtp(phone, owner.otp)).status).toBe(401);
    for (let round = 0; round < 3; round += 1) {
      advanceClock(31 * second);
      const stranger = await requestCode(phone);
      // A challenge has five tries of its own, which do not count for the number: it gets this code.
      expect(stranger.challenge).toBeDefined();
      const wrong = await parallel(20, () =>
        redeem({
          ...stranger,
          otp: otherThan(stranger.otp),
        }),
      );
      expect(wrong.filter(({ text: bytes }) => bytes === text)).toHaveLength(5);
      expect(wrong.filter(({ body }) => body.code === 'code_spent')).toHaveLength(15);
      expect(await redeem(stranger)).toMatchObject(spent);
      await parallel(5, () => verifyOtp(phone, otherThan(stranger.otp)));
    }
    advanceClock(31 * second);
    expect((await requestOtp(phone)).status).toBe(429);
    expect((await redeem(owner)).status).toBe(200);
  });

  it('is opaque, is compared with its own code alone, and ends every code of the number, as a code alone does', async () => {
    const older = await newCode();
    const { phone } = older;
    expect(older.challenge).toMatch(/^[\x21-\x7e]{20,200}$/);
    expect(await columnsWith([older.challenge!])).toEqual([]);
    advanceClock(31 * second);
    const newer = await requestCode(phone);
    expect(newer.challenge).not.toBe(older.challenge);
    // Two codes are equal once in a million times.
    if (older.otp !== newer.otp)
      expect(
        (
          await redeem({
            ...older,
            otp: newer.otp,
          })
        ).status,
      ).toBe(401);
    expect((await redeem(older)).status).toBe(200);
    expect((await redeem(newer)).status).toBe(401);
    expect((await verifyOtp(phone, newer.otp)).status).toBe(401);
    advanceClock(62 * second);
    const last = await requestCode(phone);
    expect((await verifyOtp(phone, last.otp)).status).toBe(200);
    expect((await redeem(last)).status).toBe(401);
  });

  it('is spent after five wrong codes or five minutes, at no cost, and takes none from another one', async () => {
    advanceClock(0);
    const address = newAddress();
    const code = await newCode();
    for (let count = 0; count < 5; count += 1)
      expect(await redeem({ ...code, otp: otherThan(code.otp) }, { address })).toMatchObject(
        invalid,
      );
    const answers = await parallel(70, () => redeem(code, { address }));
    expect(new Set(answers.map(costOf))).toEqual(new Set([1]));
    for (const answer of answers) expect(answer).toMatchObject(spent);
    expect(await verifyOtp(newPhone(), '123456', address)).toMatchObject(invalid);

    const late = await newCode();
    advanceClock(5 * minute + second);
    await runCron();
    expect(await redeem(late)).toMatchObject(spent);
    expect(
      await redeem({
        ...late,
        challenge: [code.challenge!, late.challenge!],
      }),
    ).toMatchObject(spent);
  });

  it('may be one of three: any of their codes signs in, and a wrong one counts for each', async () => {
    advanceClock(0);
    const codes = [await newCode()];
    const { phone } = codes[0]!;
    for (let more = 0; more < 2; more += 1) {
      advanceClock(31 * second);
      codes.unshift(await requestCode(phone));
    }
    const challenge = codes.map((code) => code.challenge!);
    const wrong = {
      phone,
      otp: codes.some(({ otp }) => otp === '000000') ? '999999' : '000000',
    };
    const [newest, older, oldest] = codes as [Code, Code, Code];

    const refused = await parallel(4, () =>
      redeem({
        ...wrong,
        challenge,
      }),
    );
    for (const answer of refused) expect(answer).toMatchObject(invalid);
    expect(
      await redeem({
        ...wrong,
        challenge: older.challenge,
      }),
    ).toMatchObject(invalid);
    // The code of the second challenge is used up, those of the others are not.
    expect(
      await redeem({
        ...older,
        challenge: older.challenge,
      }),
    ).toMatchObject(spent);
    expect(
      await redeem({
        ...wrong,
        challenge: [challenge[1]!, 'forged'],
      }),
    ).toMatchObject(spent);
    const answers = await parallel(20, () =>
      redeem({
        phone,
        otp: oldest.otp,
        challenge,
      }),
    );
    expect(tally(answers)).toEqual({ 200: 1, 401: 19 });
    expect(new Set(answers.map(costOf))).toEqual(new Set([1]));
    expect(await redeem(newest)).toMatchObject(invalid);
  });

  it('that is spent refuses no code of a live one beside it', async () => {
    advanceClock(0);
    const older = await newCode();
    await parallel(5, () =>
      redeem({
        ...older,
        otp: otherThan(older.otp),
      }),
    );
    expect(await redeem(older)).toMatchObject(spent);
    advanceClock(31 * second);
    const newer = await requestCode(older.phone);
    const challenge = [older.challenge!, newer.challenge!];
    expect(
      await redeem({
        ...newer,
        otp: otherThan(newer.otp),
        challenge,
      }),
    ).toMatchObject(invalid);
    expect((await redeem({ ...newer, challenge })).status).toBe(200);
  });

  it('that is a list is refused without an element, with four, and with one that is no challenge', async () => {
    const { phone, otp, challenge } = await newCode();
    for (const list of [
      [],
      Array(4).fill(challenge),
      [challenge, ''],
      [challenge, 7],
      [[challenge]],
    ]) {
      const body = { phone, otp, challenge: list };
      const answer = await call('POST', '/api/auth/verify-otp', { body });
      expect([answer.status, answer.body.code], JSON.stringify(list)).toEqual([
        400,
        'invalid_field',
      ]);
    }
    expect(
      (
        await redeem({
          phone,
          otp,
          challenge: [challenge!],
        })
      ).status,
    ).toBe(200);
  });

  it('that is forged, another number’s, too long or no text opens nothing', async () => {
    const [one, other] = [await newCode(), await newCode()] as const;
    const forged = [
      other.challenge,
      `${one.challenge}x`,
      one.challenge!.slice(1),
      'forged',
      '%',
      "' or 1=1",
    ];
    for (const challenge of forged)
      expect(await redeem({ ...one, challenge })).toMatchObject(invalid);
    for (const challenge of ['', 'x'.repeat(201), 7, {}, null]) {
      const { status, body } = await call('POST', '/api/auth/verify-otp', {
        body: { ...one, challenge },
      });
      expect([status, body.issues[0].path], JSON.stringify(challenge)).toEqual([400, 'challenge']);
    }
    expect((await redeem(one)).status).toBe(200);
  });
});

describe('a token of the external issuer', () => {
  const verify = (token: string, settings?: Settings) =>
    call('POST', '/api/auth/verify-external-token', {
      body: { token },
      settings,
    });
  const tokenFor = async (phone: string, body: object = {}) =>
    (await sandbox.externalToken(phone, body)).token;
  const refusal = {
    status: 401,
    body: {
      success: false,
      code: 'invalid_token',
      message: 'Invalid or expired token',
    },
  };

  it('makes a new number a free user who has not written yet, once for fifty parallel callers', async () => {
    const phone = newPhone();
    const token = await tokenFor(phone);
    const answers = await parallel(50, () => verify(token));
    expect(tally(answers)).toEqual({ 200: 1, 401: 49 });
    expect(answers.find(({ status }) => status === 401)).toMatchObject(refusal);
    const { body } = answers.find(({ status }) => status === 200)!;
    const user = {
      phoneNumber: phone,
      metadata: { subscriptionTier: 'free' },
    };
    expect(body).toMatchObject({
      success: true,
      status: 'approved',
      user,
    });
    expect((await getMe(body.token)).body.profile).toEqual(body.user);
    expect((await requestOtp(phone)).body).toMatchObject({ requiresInitialContact: true });
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: false });
    await botCall('/api/bot/contacts', { phone });
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({
      allowed: true,
      used: 1,
    });
    const again = await verify(await tokenFor(phone));
    expect(again.body.user.messagesUsedThisPeriod).toBe(1);
    expect(again.body.token).not.toBe(body.token);
  });

  const now = Math.floor(Date.now() / 1000);

  it.each([
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another audience', { claims: { aud: 'elsewhere' } }],
    ['no verified number', { claims: { phone_number_verified: false } }],
    ['a truthy word for verified', { claims: { phone_number_verified: 'true' } }],
    ['no number', { claims: { phone_number: null } }],
    ['a number that is none', { claims: { phone_number: '12345' } }],
    ['no jti', { claims: { jti: null } }],
    ['no subject', { claims: { sub: null } }],
    ['an expiry that has passed', { claims: { exp: 1_700_000_000 } }],
    ['an old issue', { claims: { iat: now - 400 } }],
    ['an issue in the future', { claims: { iat: now + 4000 } }],
    ['a beginning in the future', { claims: { nbf: now + 4000 } }],
    ['the type of an access token', { typ: 'at+jwt' }],
    ['the type of a logout', { typ: 'logout+jwt' }],
    ['the type of a session', { typ: 'session+jwt' }],
  ])('with %s is refused', async (_, body) => {
    expect(await verify(await tokenFor(newPhone(), body))).toMatchObject(refusal);
  });

  it.each([null, 'jwt', 'application/jwt'])('may have the type %s', async (typ) => {
    expect((await verify(await tokenFor(newPhone(), { typ }))).status).toBe(200);
  });

  it('is 404 without one of the settings, when everything else works, and 503 while the issuer does not respond', async () => {
    for (const name of [
      'EXTERNAL_TOKEN_ISSUER',
      'EXTERNAL_TOKEN_AUDIENCE',
      'EXTERNAL_TOKEN_JWKS_URL',
    ]) {
      const settings = { [name]: '' };
      expect(await verify('a.b.c', settings)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
      expect((await call('GET', '/api/health', { settings })).status).toBe(200);
    }
    const settings = { EXTERNAL_TOKEN_JWKS_URL: 'http://127.0.0.1:9/jwks.json' };
    expectUnavailable(await verify(await tokenFor(newPhone()), settings));
  });

  it('is refused after five minutes, forged, unsigned, or signed with the wrong kind of key', async () => {
    const token = await tokenFor(newPhone(), { expiresIn: 3600 });
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const none = btoa(
      JSON.stringify({
        alg: 'none',
        typ: 'JWT',
      }),
    ).replaceAll('=', '');
    const altered = `${header}.${payload}.${signature.slice(4)}AAAA`;
    for (const bad of [`${none}.${payload}.`, altered, 'x', 'a.b.c', `${token}.x`])
      expect(await verify(bad)).toMatchObject(refusal);
    advanceClock(6 * minute);
    expect(await verify(token)).toMatchObject(refusal);
  });
});

describe('the webhook of WhatsApp', () => {
  const settings = {
    WHATSAPP_APP_SECRET: 'the secret of the app',
    WHATSAPP_VERIFY_TOKEN: 'a token that Meta sends',
  };
  const path = '/api/webhooks/whatsapp';

  async function signatureOf(body: string, secret = settings.WHATSAPP_APP_SECRET): Promise<string> {
    const encoder = new TextEncoder();
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, [
      'sign',
    ]);
    return `sha256=${hex(await crypto.subtle.sign('HMAC', key, encoder.encode(body)))}`;
  }

  async function post(body: unknown, signature?: string) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'x-hub-signature-256': signature ?? (await signatureOf(text)) };
    return call('POST', path, { text, headers, settings });
  }

  const notification = (statuses: object[]) => ({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '1',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              statuses,
            },
          },
        ],
      },
    ],
  });
  const failed = {
    id: 'wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI',
    status: 'failed',
    timestamp: '1700000000',
    recipient_id: '15551234567',
    errors: [{ code: 131_026, title: 'Message undeliverable' }],
  };

  it('logs a code that could not be delivered with the tag of the number and the error code', async () => {
    const sent = {
      ...failed,
      status: 'delivered',
      errors: undefined,
    };
    expect(await post(notification([sent, failed]))).toMatchObject({
      status: 200,
      body: { received: true },
    });
    const [event, tag] = ['whatsapp_undelivered', expect.stringMatching(/^[\da-f]{8}$/)];
    expect(logLines(event)).toEqual([
      {
        level: 'info',
        event,
        phone: tag,
        code: 131_026,
      },
    ]);
    const log = JSON.stringify(logLines());
    for (const secret of ['5551234567', failed.id]) expect(log).not.toContain(secret);
  });

  it('takes a report in whatever shape it comes, as long as it is signed with the secret of the app', async () => {
    for (const body of [
      {},
      [],
      notification([]),
      { entry: [{ changes: [{ value: { messages: [{}] } }] }] },
    ])
      expect((await post(body)).status).toBe(200);
    expect(await post('no JSON')).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
    const body = JSON.stringify(notification([failed]));
    const right = await signatureOf(body);
    for (const signature of ['', 'sha256=', await signatureOf(body, 'another'), right.slice(7)])
      expect(await post(body, signature)).toMatchObject({
        status: 401,
        body: { code: 'invalid_signature' },
      });
    expect((await post(`${body} `, right)).status).toBe(401);
  });

  it('gives the challenge of the handshake with Meta back as text, when token, mode and challenge are right', async () => {
    const ask = async (changes: Record<string, string>) => {
      const token = settings.WHATSAPP_VERIFY_TOKEN;
      const right = {
        'hub.mode': 'subscribe',
        'hub.verify_token': token,
        'hub.challenge': '1158201444',
      };
      const query = new URLSearchParams({
        ...right,
        ...changes,
      }).toString();
      const { status, text, headers } = await call('GET', `${path}?${query}`, { settings });
      return { status, text, type: headers.get('content-type') };
    };
    const type = expect.stringMatching(/^text\/plain/);
    expect(await ask({})).toEqual({
      status: 200,
      text: '1158201444',
      type,
    });
    const refused = await ask({ 'hub.verify_token': 'wrong' });
    expect(refused).toMatchObject({
      status: 401,
      text: expect.not.stringContaining('1158201444'),
    });
    expect((await ask({ 'hub.mode': 'unsubscribe' })).status).toBe(400);
    expect((await ask({ 'hub.challenge': '<script>' })).status).toBe(400);
  });

  it('is 404 where it is not set up', async () => {
    const off = { WHATSAPP_APP_SECRET: '', WHATSAPP_VERIFY_TOKEN: '' };
    expect(
      (
        await call('POST', path, {
          body: {},
          settings: off,
        })
      ).status,
    ).toBe(404);
    const handshake = `${path}?hub.mode=subscribe&hub.verify_token=&hub.challenge=1`;
    expect((await call('GET', handshake, { settings: off })).status).toBe(404);
  });
});

describe('no code is counted that was not sent', () => {
  it('after a lost response of the database, and the same call again sends one', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const lost = { libsql: { cut: true, match: phone } } as const;
    expectUnavailable(await during(lost, () => requestOtp(phone)));
    expect(await sandbox.messages(phone)).toEqual([]);
    expect((await requestOtp(phone)).status).toBe(200);
    expect((await requestOtp(phone)).status).toBe(429);
    expect((await verifyOtp(phone, await newestCode(phone))).status).toBe(200);
  });

  it('and those of somebody who came by an external token and consented go to the number', async () => {
    advanceClock(0);
    const phone = newPhone();
    const token = await externalSession(phone);
    expect((await requestOtp(phone)).body.requiresInitialContact).toBe(true);
    expect((await consent(token)).status).toBe(200);
    const { rows } = await run(
      'select 1 from aliases where kind = ? and value = ?',
      'whatsapp',
      phone.slice(1),
    );
    expect(rows).toEqual([]);
    const code = await requestCode(phone);
    expect((await requestOtp(phone)).status).toBe(429);
    const { body } = await redeem(code);
    expect(userOf(body.token)).toBe(userOf(token));
  });
});
