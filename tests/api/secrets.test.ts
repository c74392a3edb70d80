import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { keyedHash } from '../../worker/lib/crypto.ts';
import { settingsOf } from '../../worker/settings.ts';
import { sessionToken } from '../../worker/sign-in/session-token.ts';
import { botCall, botHeaders, botPaths, call, vars, parallel, newAddress } from './support/api.ts';
import { newWriter, write } from './support/chat.ts';
import { advanceClock } from './support/clock.ts';
import { shortenPauses } from './support/pauses.ts';
import { newCode, redeem, requestCode, requestOtp, verifyOtp } from './support/codes.ts';
import { eventTypes, newContact, newPhone } from './support/contacts.ts';
import { getMe, newPerson, sessionOf, userOf, type Person } from './support/person.ts';
import { run, sandbox } from './support/sandbox.ts';
import { fullUnless } from '../long-tours.ts';

const settings = settingsOf(env)!;
const text = 'Something that nobody else may read';

/** A victim whose conversation holds the text. */
async function newVictim() {
  const victim = await newWriter();
  await write(victim.token, text);
  return victim;
}

/** A token for the session of somebody, whose ids the database holds, signed with these keys. */
function forgedSession({ token }: Person, SESSION_KEYS = settings.SESSION_KEYS) {
  const claims = { userId: userOf(token), sessionId: sessionOf(token) };
  return sessionToken({ ...settings, SESSION_KEYS }, claims, Date.now());
}

const chatOf = (token: string) => call('GET', '/api/user/chat', { token });
const canRead = async (token: string) => (await chatOf(token)).text.includes(text);

it.each(botPaths)('BOT_WEBHOOK_SECRET alone reads no message by %s', async (path) => {
  const { phone } = await newVictim();
  const id = crypto.randomUUID();
  const bodies = [
    { phone },
    { phone, id },
    {
      phone,
      id,
      text: 'x',
    },
    { phone, status: 'pending' },
  ];
  const answers = await Promise.all(bodies.map((body) => botCall(path, body)));
  expect(answers.map((answer) => answer.text).join('\n')).not.toContain(text);
});

it('TURSO_AUTH_TOKEN alone signs nobody in by copying a code to another number', async () => {
  const [victim, thief] = [await newVictim(), await newContact()];
  await newCode(victim.phone);
  const { otp } = await newCode(thief.phone);
  const copy =
    "update codes set mac = (select mac from codes where phone = ?) where phone = ? and challenge = ''";
  expect((await run(copy, thief.phone, victim.phone)).rowsAffected).toBe(1);
  expect((await verifyOtp(victim.phone, otp)).status).toBe(401);
  expect((await verifyOtp(thief.phone, otp)).status).toBe(200);
});

it('CHAT_KEYS alone signs no session and no call of the bot', async () => {
  const victim = await newVictim();
  const [name, secret] = [vars.SESSION_KEYS!.split(':')[0], vars.CHAT_KEYS!.split(/[: ]/)[1]];
  const forged = `${name}:${secret}`;
  expect((await chatOf(await forgedSession(victim, forged))).status).toBe(401);
  const body = JSON.stringify({ phone: victim.phone });
  const headers = botHeaders(body, crypto.randomUUID(), new Date(), `whsec_${btoa(forged)}`);
  expect(
    (
      await call('POST', '/api/bot/entitlements', {
        text: body,
        headers,
      })
    ).status,
  ).toBe(401);
});

it('BOT_WEBHOOK_SECRET and TURSO_AUTH_TOKEN take over the account of a number, not its conversation', async () => {
  const [victim, thief] = [await newVictim(), newPhone()];
  const give = async (to: string, from: string) => {
    await run('update users set phone = ? where phone = ?', to, from);
    await run("update aliases set value = ? where kind = 'phone' and value = ?", to, from);
  };
  await give(thief, victim.phone);
  const { token } = (await redeem(await newCode(thief))).body;
  expect((await getMe(token)).body.profile.phoneNumber).toBe(thief);
  const answer = await chatOf(token);
  expect([answer.status, answer.text.includes(text)]).toEqual([503, false]);

  // The session that was opened meanwhile is of the other number.
  await give(victim.phone, thief);
  expect(await canRead(token)).toBe(false);
  expect(await canRead(victim.token)).toBe(true);
});

describe('what opens every conversation', () => {
  it('is TURSO_AUTH_TOKEN with CODE_PEPPER: it writes a code of its own', async () => {
    const victim = await newVictim();
    await newCode(victim.phone);
    const mac = await keyedHash(settings.CODE_PEPPER[0]!, 'code', victim.phone, '123456');
    await run('update codes set mac = ? where phone = ?', mac, victim.phone);
    const { body } = await verifyOtp(victim.phone, '123456');
    expect(await canRead(body.token)).toBe(true);
  });

  it('is TURSO_AUTH_TOKEN with SESSION_KEYS: it signs a session that is open', async () => {
    const [victim, stranger] = [await newVictim(), await newPerson()];
    expect(await canRead(await forgedSession(victim))).toBe(true);
    expect(await canRead(stranger.token)).toBe(false);
  });
});

/** The steps in which two versions run side by side: a new secret is accepted, then it is the first. */
const rotation = (old: string, fresh: string) =>
  [
    ['accept', old, `${old} ${fresh}`],
    ['promote', `${old} ${fresh}`, `${fresh} ${old}`],
  ] as const;
const fresh = `rotated:${'R'.repeat(43)}`;
/** The last key of the ring is left out, so that a ring holds two at most. */
const [old] = vars.CHAT_KEYS!.split(' ') as [string];

const steps = [...rotation(old, fresh), ['remove', `${fresh} ${old}`, fresh] as const];

for (const [name, before, after] of steps)
  it(
    `serves a conversation by both versions during the step: ${name}`,
    fullUnless(name === 'remove'),
    async () => {
      // A call with settings waits for the pauses before a message is delivered.
      shortenPauses();
      const person = await newWriter();
      const writeBy = (CHAT_KEYS: string, message: string) =>
        write(person.token, message, undefined, { CHAT_KEYS });
      await writeBy(before, 'One');
      await writeBy(after, 'Two');
      await writeBy(before, 'Three');
      for (const CHAT_KEYS of [before, after]) {
        const { body } = await call('GET', '/api/user/chat', {
          token: person.token,
          settings: { CHAT_KEYS },
        });
        expect(body.messages).toMatchObject([{ text: 'One' }, { text: 'Two' }, { text: 'Three' }]);
      }
    },
  );

it('knows the sessions of both versions, if the key was accepted before it was promoted', async () => {
  const [first] = vars.SESSION_KEYS!.split(' ') as [string];
  const { phone } = await newContact();
  const promoted = { SESSION_KEYS: `${fresh} ${first}` };
  const { token } = (await redeem(await requestCode(phone), { settings: promoted })).body;
  const status = async (SESSION_KEYS: string) =>
    (
      await call('GET', '/api/user/me', {
        token,
        settings: { SESSION_KEYS },
      })
    ).status;
  expect(await status(`${first} ${fresh}`)).toBe(200);
  expect(await status(first)).toBe(401);
});

const peppers = rotation(vars.CODE_PEPPER!.split(' ')[0]!, 'P'.repeat(43));

it.each(peppers)('opens no limit while the pepper is rotated: %s', async (_, before, after) => {
  advanceClock(0);
  const { phone } = await newContact();
  const request = async (CODE_PEPPER: string) =>
    (await requestOtp(phone, undefined, { CODE_PEPPER })).status;
  expect([await request(before), await request(after)]).toEqual([200, 429]);
  await botCall('/api/bot/contacts', { phone }, undefined, { CODE_PEPPER: after });
  expect(await request(before)).toBe(200);

  const address = newAddress();
  const guess = async (CODE_PEPPER: string) =>
    (await redeem({ phone: newPhone(), otp: '123456' }, { address, settings: { CODE_PEPPER } }))
      .status;
  for (const CODE_PEPPER of [before, after]) await parallel(30, () => guess(CODE_PEPPER));
  expect([await guess(before), await guess(after)]).toEqual([429, 429]);
});

it.each(peppers)(
  'takes a code or an external token of either version once: %s',
  async (_, before, after) => {
    const by = (CODE_PEPPER: string) => ({ settings: { CODE_PEPPER } });
    for (const one of [before, after]) {
      const other = one === before ? after : before;
      const { token } = await sandbox.externalToken(newPhone());
      const verify = async (pepper: string) =>
        (
          await call('POST', '/api/auth/verify-external-token', {
            body: { token },
            ...by(pepper),
          })
        ).status;
      expect([await verify(one), await verify(other), await verify(one)]).toEqual([200, 401, 401]);

      for (const withChallenge of [true, false]) {
        const { challenge, ...code } = await newCode(newPhone(), by(one));
        const redeemBy = async (pepper: string) =>
          (await redeem({ ...code, ...(withChallenge && { challenge }) }, by(pepper))).status;
        expect(await redeemBy('another-pepper-of-thirty-two-bytes')).toBe(401);
        expect([await redeemBy(other), await redeemBy(one)]).toEqual([200, 401]);
      }
    }
  },
);

const botSecrets = rotation(
  vars.BOT_WEBHOOK_SECRET!,
  `whsec_${btoa('a secret of thirty-two bytes, new')}`,
);

for (const [name, before, after] of botSecrets)
  it(
    `takes calls and signs events by the bot's old secret: ${name}`,
    fullUnless(name === 'promote'),
    async () => {
      const { phone } = await newContact();
      for (const BOT_WEBHOOK_SECRET of [before, after])
        for (const status of ['pending', 'approved'])
          await botCall('/api/bot/approvals', { phone, status }, undefined, { BOT_WEBHOOK_SECRET });
      expect(await eventTypes(phone)).toEqual(['user.approved', 'user.approved']);
    },
  );
