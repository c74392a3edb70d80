import { describe, expect, it } from 'vitest';
import { botCall, call, vars } from './support/api.ts';
import { buy, complete, inPortal, onTrial, verify } from './support/buying.ts';
import { verifyOtp } from './support/codes.ts';
import { newContact } from './support/contacts.ts';
import { newPerson } from './support/person.ts';
import { logLines } from './support/requests.ts';
import { sandbox } from './support/sandbox.ts';
import { customerOf, priceOf, stripe } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

const codes = {
  en: /^\d{6} is your verification code\./,
  es: /^Tu código de verificación es \d{6}\./,
};

const headersIn = (language: string) => ({ 'accept-language': language });

const requestOtp = (phone: string, language: string, settings: Record<string, string> = {}) =>
  call('POST', '/api/auth/request-otp', {
    body: { phone },
    headers: headersIn(language),
    settings,
  });

const open = (token: string, language: string, tier?: string) =>
  buy(token, tier, { headers: headersIn(language) });

const checkoutsOf = async (phone: string) =>
  (await stripe.checkout.sessions.list({ customer: await customerOf(phone) })).data;

/** The journeys of the browser tests have the codes, the trial links and the messages of each language. */
describe.each([
  ['en', '', /kept by WhatsApp/],
  ['es', '/es', /guardan WhatsApp/],
  ['pt-BR', '/pt-br', /guardadas no WhatsApp/],
])('in the language of the page, %s,', (language, path, note) => {
  const page = `${vars.SITE_URL}${path}`;
  const headers = headersIn(language);

  /** The checkout that returns to a page of the language. */
  const checkoutTo = (successPage: string) =>
    expect.objectContaining({
      locale: language,
      success_url: `${page}/${successPage}?session_id={CHECKOUT_SESSION_ID}`,
      cancel_url: `${page}/payment-canceled`,
    });

  it(
    "Stripe's pages of a purchase are, and return to it",
    fullUnless(language === 'pt-BR'),
    async () => {
      const { phone, token } = await newPerson();
      expect((await open(token, language)).body.portalUrl).toBe(`${page}/plans`);
      const { portalUrl } = (await open(token, language, 'basic')).body;
      expect(await checkoutsOf(phone)).toEqual([checkoutTo('payment-success')]);
      expect(await (await fetch(portalUrl)).text()).toContain(`<html lang="${language}">`);
      await verify(token, await complete(portalUrl));

      const portal = (
        await call('POST', '/api/billing/create-portal-session', {
          token,
          headers,
        })
      ).body.portalUrl;
      expect(await (await fetch(portal)).text()).toContain(`<html lang="${language}">`);
      expect((await inPortal(portal, 'return')).headers.get('location')).toBe(`${page}/account`);
      const change = (await open(token, language, 'premium')).body.portalUrl;
      const changed = await inPortal(change, 'switch', { price: await priceOf('premium') });
      expect(changed.headers.get('location')).toBe(`${page}/auth/stripe-success`);
    },
  );

  it("Stripe's page that saves a card during a trial returns to it, and an export has its notes", async () => {
    const { phone, token } = await onTrial('premium');
    await open(token, language, 'premium');
    expect(await checkoutsOf(phone)).toEqual([checkoutTo('payment-details-saved')]);
    const { notes } = (
      await call('GET', '/api/user/export', {
        token,
        headers,
      })
    ).body;
    expect(notes[0]).toMatch(note);
  });
});

describe('a code', () => {
  it.each(['en es_MX pt_BR', 'en pt_BR', 'en'])(
    'comes in the first language of “%s” for Spanish',
    async (list) => {
      const { phone } = await newContact();
      const settings = {
        WHATSAPP_TEMPLATE_LANGUAGE: list,
        LIMIT_CODES_PER_NUMBER: '2/1h',
      };
      for (const _ of [1, 2]) expect((await requestOtp(phone, 'es', settings)).status).toBe(200);
      const messages = await sandbox.messages(phone);
      const english = expect.stringMatching(codes.en);
      expect(messages.map(({ text }) => text)).toEqual([english, english]);
      // A fallback counts as one code, so two of them reach the limit of two, and no limit before.
      expect((await requestOtp(phone, 'es', settings)).status).toBe(429);
      const { body } = await verifyOtp(phone, messages.at(-1)!.code!);
      expect(body).toMatchObject({
        success: true,
        token: expect.any(String),
      });
      const missing = expect.objectContaining({
        language: 'es_MX',
        code: 132_001,
      });
      expect(logLines('template_missing')).toEqual(
        list.includes('es_MX') ? [missing, missing] : [],
      );
      expect(logLines('whatsapp_refused')).toEqual([]);
    },
  );

  it('is refused and does not count if WhatsApp has no template in the first language', async () => {
    const { phone } = await newContact();
    const settings = { LIMIT_CODES_PER_NUMBER: '1/1h' };
    const refused = await requestOtp(phone, 'es', {
      ...settings,
      WHATSAPP_TEMPLATE_LANGUAGE: 'de es_MX',
    });
    expect(refused).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    });
    expect(logLines('whatsapp_refused')).toEqual([
      expect.objectContaining({ status: 404, code: 132_001 }),
    ]);
    expect(await sandbox.messages(phone)).toEqual([]);
    expect((await requestOtp(phone, 'es', settings)).status).toBe(200);
    expect((await sandbox.messages(phone))[0]!.text).toMatch(codes.es);
  });
});

it("Stripe's pages are used again in the same language only, and one is open at a time", async () => {
  const { phone, token } = await newPerson();
  const spanish = (await open(token, 'es', 'basic')).body.portalUrl;
  expect((await open(token, 'es-AR', 'basic')).body.portalUrl).toBe(spanish);
  expect((await open(token, 'pt', 'basic')).body.portalUrl).not.toBe(spanish);
  const sessions = await checkoutsOf(phone);
  expect(sessions.map(({ locale, status }) => `${locale} ${status}`)).toEqual([
    'pt-BR open',
    'es expired',
  ]);
});

it('a trial link is refused in a language that is not published, or spelled differently', async () => {
  const { phone } = await newContact();
  for (const language of ['fr', 'es-MX', 'pt-br', '', null, ['es']]) {
    const answer = await botCall('/api/bot/trials', { phone, language });
    expect(answer, String(language)).toMatchObject({
      status: 400,
      body: { issues: [{ path: 'language' }] },
    });
  }
});
