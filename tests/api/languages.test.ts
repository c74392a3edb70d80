import { describe, expect, it } from 'vitest';
import { botCall, call, vars } from './support/api.ts';
import { complete, inPortal, onTrial, verify } from './support/buying.ts';
import { acceptedBy, newWriter, untilDelivered } from './support/chat.ts';
import { logLines } from './support/log.ts';
import { newContact, newPerson, verifyOtp } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { customerOf, stripe } from './support/stripe.ts';

const cases = [
  { header: 'en', language: 'en', path: '', code: /^\d{6} is your verification code\./ },
  { header: 'es', language: 'es', path: '/es', code: /^Tu código de verificación es \d{6}\./ },
  { header: 'pt-BR', language: 'pt-BR', path: '/pt-br', code: /^Seu código de verificação é \d{6}\./ },
] as const;

/** Headers in which no published language stands, and one longer than any browser's. */
const others = {
  none: undefined,
  'another language': 'fr',
  'a broken one': ';q=,,es;q=x, =es, es_MX',
  'one of 8 KB': 'es, '.repeat(2048),
};

const languageOf = (header: string | undefined): Record<string, string> =>
  header === undefined ? {} : { 'accept-language': header };

const requestOtp = (phone: string, header?: string, settings?: Record<string, string>) =>
  call('POST', '/api/auth/request-otp', {
    body: { phone },
    headers: languageOf(header),
    ...(settings && { settings }),
  });

const newestText = async (phone: string) => (await sandbox.messages(phone)).at(-1)?.text;

describe('a code', () => {
  it.each(cases)('comes in the language of the page: $header', async ({ header, code }) => {
    const { phone } = await newContact();
    expect((await requestOtp(phone, header)).status).toBe(200);
    expect(await newestText(phone)).toMatch(code);
  });

  it.each(Object.entries(others))('comes in English with %s as Accept-Language', async (_, header) => {
    const { phone } = await newContact();
    const { status, body } = await requestOtp(phone, header);
    expect({ status, body }).toEqual({
      status: 200,
      body: { success: true, requiresInitialContact: false, challenge: expect.any(String) },
    });
    expect(await newestText(phone)).toMatch(cases[0].code);
  });

  it.each(['en es_MX pt_BR', 'en pt_BR', 'en'])('comes in the first language of “%s” for Spanish', async (list) => {
    const { phone } = await newContact();
    const settings = { WHATSAPP_TEMPLATE_LANGUAGE: list, LIMIT_CODES_PER_NUMBER: '2/1h' };
    for (const _ of [1, 2]) expect((await requestOtp(phone, 'es', settings)).status).toBe(200);
    const messages = await sandbox.messages(phone);
    expect(messages.map(({ text }) => text)).toEqual([
      expect.stringMatching(cases[0].code),
      expect.stringMatching(cases[0].code),
    ]);
    // A fallback counts as one code, so two of them reach the limit of two, and no limit before.
    expect((await requestOtp(phone, 'es', settings)).status).toBe(429);
    const otp = messages.at(-1)!.code!;
    expect((await verifyOtp(phone, otp)).body).toMatchObject({ success: true, token: expect.any(String) });
    const missing = logLines('template_missing');
    expect(missing).toEqual(
      list.includes('es_MX') ? [1, 2].map(() => expect.objectContaining({ language: 'es_MX', code: 132_001 })) : [],
    );
    expect(logLines('whatsapp_refused')).toEqual([]);
  });

  it('is refused and does not count if WhatsApp has no template in the first language', async () => {
    const { phone } = await newContact();
    const settings = { LIMIT_CODES_PER_NUMBER: '1/1h' };
    const refused = await requestOtp(phone, 'es', { ...settings, WHATSAPP_TEMPLATE_LANGUAGE: 'de es_MX' });
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable']);
    expect(logLines('whatsapp_refused')).toEqual([expect.objectContaining({ status: 404, code: 132_001 })]);
    expect(await sandbox.messages(phone)).toEqual([]);
    expect((await requestOtp(phone, 'es', settings)).status).toBe(200);
    expect(await newestText(phone)).toMatch(cases[1].code);
  });
});

describe("Stripe's pages", () => {
  const site = vars.SITE_URL!;
  const open = (token: string, header: string, tier?: string) =>
    call('POST', '/api/billing/create-subscription-update-session', {
      token,
      headers: languageOf(header),
      ...(tier && { body: { tier } }),
    });
  const checkoutsOf = async (phone: string) =>
    (await stripe.checkout.sessions.list({ customer: await customerOf(phone) })).data;

  it.each(cases)('of a purchase have the language $header and return to it', async ({ header, language, path }) => {
    const { phone, token } = await newPerson();
    const plans = await open(token, header);
    expect(plans.body.portalUrl).toBe(`${site}${path}/plans`);
    const { body } = await open(token, header, 'basic');
    expect(await checkoutsOf(phone)).toEqual([
      expect.objectContaining({
        locale: language,
        success_url: `${site}${path}/payment-success?session_id={CHECKOUT_SESSION_ID}`,
        cancel_url: `${site}${path}/payment-canceled`,
      }),
    ]);
    expect(await (await fetch(body.portalUrl)).text()).toContain(`<html lang="${language}">`);
    await verify(token, await complete(body.portalUrl));

    const portal = await call('POST', '/api/billing/create-portal-session', { token, headers: languageOf(header) });
    expect(await (await fetch(portal.body.portalUrl)).text()).toContain(`<html lang="${language}">`);
    const left = await inPortal(portal.body.portalUrl, 'return');
    expect(left.headers.get('location')).toBe(`${site}${path}/account`);
    const change = await open(token, header, 'premium');
    const price = (await stripe.prices.list({ lookup_keys: ['premium_weekly'] })).data[0]!.id;
    const changed = await inPortal(change.body.portalUrl, 'switch', { price });
    expect(changed.headers.get('location')).toBe(`${site}${path}/auth/stripe-success`);
  });

  it.each(cases)('that save a card during a trial return to $header', async ({ header, language, path }) => {
    const { phone, token } = await onTrial('premium');
    await open(token, header, 'premium');
    expect(await checkoutsOf(phone)).toEqual([
      expect.objectContaining({
        mode: 'setup',
        locale: language,
        success_url: `${site}${path}/payment-details-saved?session_id={CHECKOUT_SESSION_ID}`,
        cancel_url: `${site}${path}/payment-canceled`,
      }),
    ]);
  });

  it('are used again in the same language only, and one is open at a time', async () => {
    const { phone, token } = await newPerson();
    const spanish = (await open(token, 'es', 'basic')).body.portalUrl;
    expect((await open(token, 'es-AR', 'basic')).body.portalUrl).toBe(spanish);
    const portuguese = (await open(token, 'pt', 'basic')).body.portalUrl;
    expect(portuguese).not.toBe(spanish);
    const sessions = await checkoutsOf(phone);
    expect(sessions.map(({ locale, status }) => ({ locale, status }))).toEqual([
      { locale: 'pt-BR', status: 'open' },
      { locale: 'es', status: 'expired' },
    ]);
  });

  it.each(Object.entries(others))('are English with %s as Accept-Language', async (_, header) => {
    const { phone, token } = await newPerson();
    expect((await open(token, header!, 'basic')).status).toBe(200);
    expect((await checkoutsOf(phone)).map(({ locale }) => locale)).toEqual(['en']);
  });
});

describe('a message on the web', () => {
  const all = [...cases.map(({ header, language }) => [header, language] as const), ['de-AT, de;q=0.9', 'en'] as const];
  it.each(all)('from a page in %s has the locale %s', async (header, language) => {
    const { phone, token } = await newWriter();
    const id = crypto.randomUUID();
    const headers = languageOf(header);
    const { status } = await call('POST', '/api/user/chat/messages', { token, headers, body: { id, text: 'Hola' } });
    expect(status).toBe(200);
    await untilDelivered(phone);
    expect(await acceptedBy(phone)).toEqual([expect.objectContaining({ messageId: id, locale: language })]);
  });

  it.each(Object.entries(others))('with %s as Accept-Language is sent all the same', async (_, header) => {
    const { phone, token } = await newWriter();
    const body = { id: crypto.randomUUID(), text: 'Hola' };
    expect((await call('POST', '/api/user/chat/messages', { token, headers: languageOf(header), body })).status).toBe(
      200,
    );
    await untilDelivered(phone);
    expect(await acceptedBy(phone)).toEqual([expect.objectContaining({ messageId: body.id, locale: 'en' })]);
  });
});

describe('a trial link', () => {
  const ask = (phone: string, more: object, id?: string) => botCall('/api/bot/trials', { phone, ...more }, id);

  it.each(cases)('opens in the language that the bot names: $language', async ({ language, path }) => {
    const { phone } = await newContact();
    const id = crypto.randomUUID();
    const first = await ask(phone, { language }, id);
    const page = `${vars.SITE_URL}${path}/activate-trial`;
    expect(first.body.url.split('?token=')).toEqual([page, expect.stringMatching(/^[\w-]{43,}$/)]);
    expect((await ask(phone, { language }, id)).body).toEqual(first.body);
    const other = await ask(phone, { language: language === 'es' ? 'en' : 'es' }, id);
    expect([other.status, other.body.code]).toEqual([409, 'id_reused']);
    const trialToken = new URL(first.body.url).searchParams.get('token');
    expect((await call('POST', '/auth/verify-trial-token', { body: { trialToken } })).body).toMatchObject({
      success: true,
      token: expect.any(String),
    });
  });

  it.each(['fr', 'es-MX', 'pt', 'pt-br', 'EN', '', null, 1, ['es']])('is refused in %j', async (language) => {
    const { phone } = await newContact();
    const { status, body } = await ask(phone, { language });
    expect({ status, body }).toMatchObject({ status: 400, body: { success: false, issues: [{ path: 'language' }] } });
  });
});

describe('an export', () => {
  it.each(cases)('has its notes in $header', async ({ header }) => {
    const { token } = await newPerson();
    const { body } = await call('GET', '/api/user/export', { token, headers: languageOf(header) });
    const words = { en: /kept by WhatsApp/, es: /guardan WhatsApp/, 'pt-BR': /guardadas no WhatsApp/ };
    expect(body['notes'][0]).toMatch(words[header]);
  });
});
