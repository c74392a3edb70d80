import type { Page, Request } from 'playwright/test';
import { languages } from '../../worker/contract/languages.ts';
import { brand } from '../../worker/contract/brand.ts';
import { folderOf, sentencesOf } from '../../web/build/words/texts.ts';
import { hydrated, open } from './support/page.ts';
import { expect, signInByExternalToken, test } from './support/test.ts';

const journeys = [
  {
    tag: 'es',
    hello: 'Hola, hoy fue un día difícil',
    code: /^Tu código de verificación es \d{6}\./,
    pays: 'Suscríbete a',
    reply: /^(Gracias por contármelo|Te escucho)/,
  },
  {
    tag: 'pt-BR',
    hello: 'Oi, hoje o dia foi difícil',
    code: /^Seu código de verificação é \d{6}\./,
    pays: 'Assine o',
    reply: /^(Agradeço por me contar|Estou te ouvindo)/,
  },
] as const;

type Tag = (typeof journeys)[number]['tag'];

const brandNames: Record<string, string> = { name: brand.name, companion: brand.companion, app: brand.messagingApp };

/** The sentences of a language by their keys, with the names of the product. */
function sentencesIn(tag: Tag | 'en'): Map<string, string> {
  const filled = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (placeholder, key: string) => brandNames[key] ?? placeholder);
  return new Map([...sentencesOf(folderOf(tag))].map(([key, text]) => [key, filled(text)]));
}

function sentenceOf(tag: Tag, key: string, values: Record<string, string> = {}): string {
  const text = sentencesIn(tag).get(key);
  if (text === undefined) throw new Error(`${tag} has no sentence ${key}`);
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name]!);
}

/** What the page shows and says: texts, labels and titles outside of parts in another language. */
const shown = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const language = document.documentElement.lang;
    const isOwn = (element: Element | null) => element?.closest('[lang]')?.getAttribute('lang') === language;
    const texts: string[] = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (isOwn(parent) && !parent?.closest('script, style, template, noscript'))
        texts.push(walker.currentNode.nodeValue ?? '');
    }
    for (const name of ['aria-label', 'placeholder', 'alt', 'title'])
      for (const element of document.body.querySelectorAll(`[${name}]`))
        if (isOwn(element)) texts.push(element.getAttribute(name)!);
    return texts.map((text) => text.trim()).filter(Boolean);
  });

/** Words of English that neither Spanish nor Portuguese has. */
const englishWords = /\b(the|you|your|and|with|this|that|please|of|are|is|will|have|try|again|our)\b/i;

/** The page is in its language, and shows no sentence that the site has in English. */
async function expectNoEnglish(page: Page, tag: Tag): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('lang', tag);
  const own = new Set(sentencesIn(tag).values());
  const english = new Set([...sentencesIn('en').values()].filter((text) => !own.has(text)));
  const texts = await shown(page);
  expect(texts.length, 'texts on the page').toBeGreaterThan(3);
  const found = texts.filter((text) => english.has(text) || englishWords.test(text));
  expect(found, `English on ${page.url()}`).toEqual([]);
}

/** The `Accept-Language` of each call of the API; a stream has none of the page's. */
function watchCalls(page: Page): () => Promise<Set<string | undefined>> {
  const calls: Request[] = [];
  page.on('request', (request) => {
    const isCall = /\/(api|auth)\//.test(new URL(request.url()).pathname) && request.resourceType() === 'fetch';
    if (isCall) calls.push(request);
  });
  return async () =>
    new Set(await Promise.all(calls.map(async (call) => (await call.allHeaders())['accept-language'])));
}

/** Checks both boxes of the notice before the conversation. */
async function agree(page: Page): Promise<void> {
  await expect(page.getByRole('checkbox')).toHaveCount(2);
  for (const box of await page.getByRole('checkbox').all()) await box.check();
}

for (const { tag, hello, code, pays, reply } of journeys) {
  const { path } = languages.find((language) => language.tag === tag)!;
  const say = (key: string, values?: Record<string, string>) => sentenceOf(tag, key, values);

  test.describe(`in ${tag}`, () => {
    test('from the landing page to a paid plan and a conversation, without English', async ({ page, phone }) => {
      const languagesOfCalls = watchCalls(page);
      await phone.write(hello);
      await open(page, `${path}/`);
      await expectNoEnglish(page, tag);
      await page
        .getByRole('link', { name: say('landing.landing.choosePlan') })
        .first()
        .click();
      await page.waitForURL(`**${path}/plans`);
      await expectNoEnglish(page, tag);
      const choose = say('plans.plans.choose', { plan: say('catalogue.catalogue.plans.basic.name') });
      await page
        .getByRole('button', { name: choose })
        .or(page.getByRole('link', { name: choose }))
        .click();
      await page.waitForURL(`**${path}/login?plan=basic`);
      await expectNoEnglish(page, tag);
      await page.getByLabel(say('login.login.phone')).fill(phone.number);
      await page.getByRole('button', { name: say('login.login.sendCode') }).click();
      await page.getByLabel(say('login.login.code')).fill(await phone.code());
      expect((await phone.messages()).find((message) => message.code)!.text).toMatch(code);
      await expectNoEnglish(page, tag);
      await page.getByRole('button', { name: say('login.login.verify') }).click();
      await page.waitForURL(`**${path}/account`);
      await expect(page.getByText(say('account.status.free'))).toBeVisible();
      await expectNoEnglish(page, tag);

      await open(page, `${path}/plans`);
      await page.getByRole('button', { name: choose }).click();
      await expect(page.getByText(pays)).toBeVisible();
      await expect(page.locator('html')).toHaveAttribute('lang', tag);
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await page.waitForURL(`**${path}/payment-success?session_id=*`);
      await expect(page.getByText(say('results.paymentSuccess.welcome'))).toBeVisible();
      await expectNoEnglish(page, tag);
      await page.getByRole('link', { name: say('results.paymentSuccess.manage') }).click();
      await page.waitForURL(`**${path}/account`);
      await expect(page.getByText(say('account.usage.of', { used: '0', limit: '30' }))).toBeVisible();
      await expectNoEnglish(page, tag);

      await open(page, `${path}/chat`);
      await agree(page);
      await expectNoEnglish(page, tag);
      await page.getByRole('button', { name: say('chat-consent.consent.accept') }).click();
      await page.getByRole('textbox', { name: say('chat.composer.field') }).fill(hello);
      await page.keyboard.press('Enter');
      await expect(page.getByRole('log').getByText(reply)).toBeVisible();
      await expectNoEnglish(page, tag);
      expect(await phone.webMessages()).toEqual([expect.objectContaining({ text: hello, locale: tag })]);
      expect(await languagesOfCalls()).toEqual(new Set([tag]));
    });

    test('a trial link of the bot opens in it, and an unknown page is the one of the language', async ({
      page,
      phone,
      expectedErrors,
    }) => {
      expectedErrors.push(/status of 404/);
      await phone.write(hello);
      const { url } = await phone.trial({ tier: 'basic', days: 3, language: tag });
      await page.goto(url);
      await page.waitForURL(`**${path}/account`);
      await expect(page.getByText(say('account.account.freeTrial'))).toBeVisible();
      await expectNoEnglish(page, tag);
      const response = await page.goto(`${path}/nope`);
      expect(response!.status()).toBe(404);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(say('layout.notFound.title'));
      await expectNoEnglish(page, tag);
    });

    test('the start of its addresses can be spelled in several ways, and there is one home page', async ({
      request,
    }) => {
      for (const spelled of [path, `${path}/`, path.toUpperCase(), `${path.toUpperCase()}/`]) {
        const response = await request.get(`${spelled}?from=chat`);
        expect(new URL(response.url()).pathname, spelled).toBe(`${path}/`);
        expect(await response.text(), spelled).toContain(`<html lang="${tag}"`);
      }
    });
  });
}

test('an unknown language is the English page of an unknown address', async ({ request }) => {
  for (const path of ['/fr/', '/fr/plans', '/nope']) {
    const response = await request.get(path, { headers: { 'Sec-Fetch-Mode': 'navigate', Accept: 'text/html' } });
    expect(response.status(), path).toBe(404);
    expect(await response.text(), path).toMatch(/<html lang="en"[^]*<h1[^>]*>Page Not Found/);
  }
});

test('session, theme and draft outlast a change of the language, and the draft ends with the session', async ({
  page,
  phone,
}) => {
  const change = async (name: string, target: string) => {
    await page.getByRole('contentinfo').getByRole('link', { name, exact: true }).click();
    await page.waitForURL(`**${target}`);
    await hydrated(page);
  };
  const draft = 'Not finished yet,\nand of two lines';
  const stored = () => page.evaluate(() => JSON.stringify(sessionStorage));
  await signInByExternalToken(page, phone, '/chat');
  await agree(page);
  await page.getByRole('button', { name: 'Start the conversation' }).click();
  const field = page.getByRole('textbox', { name: /Solace/ });
  await field.fill(draft);
  expect(await stored()).not.toContain('Not finished');
  await page.getByRole('link', { name: 'My Account' }).click();
  await page.waitForURL('**/account');
  const dark = page.locator('html[data-theme=dark]');
  await page.getByRole('button', { name: 'Switch to dark colours' }).click();
  await expect(dark).toBeVisible();

  await change('Español', '/es/account');
  await expect(dark).toBeVisible();
  await expect(page.getByText(sentenceOf('es', 'account.status.free'))).toBeVisible();
  await page.goto('/es/chat');
  await expect(field).toHaveValue(draft);
  expect(await stored()).not.toContain('Not finished');
  await page.getByRole('link', { name: sentenceOf('es', 'layout.layout.myAccount') }).click();
  await change('Português', '/pt-br/account');
  expect(await stored()).toContain('Not finished');
  await page.getByRole('button', { name: sentenceOf('pt-BR', 'account.account.logout') }).click();
  await page.waitForURL('**/pt-br/login');
  expect(await stored()).not.toContain('Not finished');
});
