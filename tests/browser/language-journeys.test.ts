import type { Page } from 'playwright/test';
import { languages } from '../../worker/contract/languages.ts';
import { messageOf, pageOf } from './support/chat.ts';
import { follow, hydrated, open } from './support/page.ts';
import { expect, signInByExternalToken, stubbed, test } from './support/test.ts';
import { expectNoEnglish, sentenceOf } from './support/words.ts';

const journeys = [
  {
    tag: 'es',
    hello: 'Hola, hoy fue un día difícil',
    choose: 'Elegir Basic',
    code: /^Tu código de verificación es \d{6}\./,
    pays: 'Suscríbete a',
    reply: /^(Gracias por contármelo|Te escucho)/,
  },
  {
    tag: 'pt-BR',
    hello: 'Oi, hoje o dia foi difícil',
    choose: 'Escolher Basic',
    code: /^Seu código de verificação é \d{6}\./,
    pays: 'Assine o',
    reply: /^(Agradeço por me contar|Estou te ouvindo)/,
  },
] as const;

async function agree(page: Page): Promise<void> {
  for (const index of [0, 1]) await page.getByRole('checkbox').nth(index).check();
}

for (const { tag, hello, choose, code, pays, reply } of journeys) {
  const { path } = languages.find((language) => language.tag === tag)!;
  const say = (key: string, values?: Record<string, string>) => sentenceOf(tag, key, values);

  const title = `${tag}: from the landing page to a paid plan and a conversation`;
  test(title, { tag: '@full' }, async ({ page, phone }) => {
    await phone.write(hello);
    await open(page, `${path}/`);
    await expectNoEnglish(page, tag);
    const choosePlan = page.getByRole('link', { name: say('landing.landing.choosePlan') });
    await follow(choosePlan.first(), `**${path}/plans`);
    await expectNoEnglish(page, tag);
    await follow(page.getByRole('link', { name: choose }), `**${path}/login?plan=basic`);
    await expectNoEnglish(page, tag);
    await page.getByLabel(say('login.login.phone')).fill(phone.number);
    await page.getByRole('button', { name: say('login.login.sendCode') }).click();
    await page.getByLabel(say('login.login.code')).fill(await phone.code());
    expect((await phone.messages()).find((message) => message.code)!.text).toMatch(code);
    await expectNoEnglish(page, tag);
    const read = page.waitForRequest('**/api/user/me');
    await page.getByRole('button', { name: say('login.login.verify') }).click();
    expect((await (await read).allHeaders())['accept-language']).toBe(tag);
    await page.waitForURL(`**${path}/account`);
    await expect(page.getByText(say('account.status.free'))).toBeVisible();
    await expectNoEnglish(page, tag);

    await open(page, `${path}/plans`);
    await page.getByRole('button', { name: choose }).click();
    await expect(
      page.getByRole('checkbox', { name: say('order.order.startNow') }),
    ).not.toBeChecked();
    await expectNoEnglish(page, tag);
    await page.getByRole('button', { name: say('order.order.pay') }).click();
    await expect(page.getByText(pays)).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', tag);
    await follow(
      page.getByRole('button', { name: 'Subscribe' }),
      `**${path}/payment-success?session_id=*`,
    );
    await expect(page.getByText(say('results.paymentSuccess.welcome'))).toBeVisible();
    await expectNoEnglish(page, tag);
    await follow(
      page.getByRole('link', { name: say('results.paymentSuccess.manage') }),
      `**${path}/account`,
    );
    await expect(
      page.getByText(
        say('account.usage.of', {
          used: '0',
          limit: '30',
        }),
      ),
    ).toBeVisible();
    await expectNoEnglish(page, tag);

    await open(page, `${path}/chat`);
    await agree(page);
    await expectNoEnglish(page, tag);
    await page.getByRole('button', { name: say('chat-consent.consent.accept') }).click();
    await page.getByRole('textbox', { name: say('chat.composer.field') }).fill(hello);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('log').getByText(reply)).toBeVisible();
    await expectNoEnglish(page, tag);
    expect(await phone.webMessages()).toEqual([
      expect.objectContaining({ text: hello, locale: tag }),
    ]);
  });
}

/** The parts of the way above that another language could lose; `languages.test.ts` finds what is not translated. */
stubbed(
  'es: each page leads to the next in its language, and each call names it',
  async ({ page, stub }) => {
    const say = (key: string) => sentenceOf('es', key);
    stub.respond('verifyOtp', { success: true, token: 'e2e-token', status: 'approved' });
    stub.respond('getChat', pageOf([]));
    stub.respond('sendMessage', { success: true, message: messageOf(1, 'Hola') });
    stub.person({});
    await open(page, '/es/');
    await follow(
      page.getByRole('link', { name: say('landing.landing.choosePlan') }).first(),
      '**/es/plans',
    );
    await follow(page.getByRole('link', { name: 'Elegir Basic' }), '**/es/login?plan=basic');
    await page.getByLabel(say('login.login.phone')).fill('+15551234567');
    await page.getByRole('button', { name: say('login.login.sendCode') }).click();
    await page.getByLabel(say('login.login.code')).fill('123456');
    await page.getByRole('button', { name: say('login.login.verify') }).click();
    await page.waitForURL('**/es/account');
    await expect(page.getByText(say('account.status.free'))).toBeVisible();
    await expectNoEnglish(page, 'es');
    await open(page, '/es/chat');
    await page.getByRole('textbox', { name: say('chat.composer.field') }).fill('Hola');
    await page.keyboard.press('Enter');
    await expect.poll(() => stub.calls('sendMessage').length).toBe(1);
    await expectNoEnglish(page, 'es');
    const named = stub
      .calls()
      .filter(({ name }) => !name.endsWith('Stream'))
      .map(({ name, headers }) => [name, headers['accept-language']]);
    expect(named.filter(([, language]) => language !== 'es')).toEqual([]);
  },
);

test('the start of an address can be spelled in several ways, and there is one home page', async ({
  request,
}) => {
  for (const spelled of ['/es', '/es/', '/ES', '/ES/', '/pt-br', '/PT-BR/']) {
    const response = await request.get(`${spelled}?from=chat`);
    const start = `${spelled.toLowerCase().replace(/\/$/, '')}/`;
    expect(new URL(response.url()).pathname, spelled).toBe(start);
    expect((await response.text()).toLowerCase(), spelled).toContain(
      `<html lang="${start.slice(1, -1)}"`,
    );
  }
});

test('what people write for a language leads to the same page in it, and nowhere else', async ({
  request,
}) => {
  for (const [asked, found] of [
    ['/pt', '/pt-br/'],
    ['/pt/help-now', '/pt-br/help-now'],
    ['/PT/help-now', '/pt-br/help-now'],
    ['/pt-PT/help-now', '/pt-br/help-now'],
    ['/pt_BR/plans', '/pt-br/plans'],
    ['/pt-BR/help-now', '/pt-br/help-now'],
    ['/Pt-Br/plans', '/pt-br/plans'],
    ['/es-MX/help-now', '/es/help-now'],
    ['/es-419/', '/es/'],
    ['/es-419', '/es/'],
    ['/ES-mx/help-now', '/es/help-now'],
    ['/es_ES/', '/es/'],
    ['/en', '/'],
    ['/en/help-now', '/help-now'],
    ['/en-US/plans', '/plans'],
    ['/EN_gb/plans', '/plans'],
  ] as const) {
    const response = await request.get(`${asked}?from=chat`, { maxRedirects: 0 });
    expect(response.status(), asked).toBe(301);
    expect(response.headers()['location'], asked).toBe(`${found}?from=chat`);
  }
  for (const path of ['/en//example.com', '/en-us//example.com/a', '/en/%5cexample.com', '/en//'])
    for (let next = path, hops = 0; hops < 4; hops += 1) {
      const response = await request.get(next, { maxRedirects: 0 });
      const location = response.headers()['location'];
      if (!location) break;
      expect(location, path).toMatch(/^\/(?![/\\])/);
      next = location;
    }
  for (const path of ['/entries', '/estate', '/pto', '/pt-br-x'])
    expect((await request.get(path)).status(), path).toBe(404);
});

test(
  'session, theme and draft outlast a change of the language',
  { tag: '@full' },
  async ({ page, phone }) => {
    const change = async (name: string, target: string) => {
      await follow(
        page.getByRole('contentinfo').getByRole('link', {
          name,
          exact: true,
        }),
        `**${target}`,
      );
      await hydrated(page);
    };
    const draft = 'Not finished yet,\nand of two lines';
    const stored = () => page.evaluate(() => JSON.stringify(sessionStorage));
    await signInByExternalToken(page, phone, '/chat');
    await agree(page);
    await page.getByRole('button', { name: 'Start the conversation' }).click();
    const field = page.getByRole('textbox', { name: /Solace/ });
    await field.fill(draft);
    expect(await stored()).toContain('Not finished');
    await follow(page.getByRole('link', { name: 'My Account' }), '**/account');
    const dark = page.locator('html[data-theme=dark]');
    await page.getByRole('button', { name: 'Switch to dark colours' }).click();
    await expect(dark).toBeVisible();

    await change('Español', '/es/account');
    await expect(dark).toBeVisible();
    await expect(page.getByText(sentenceOf('es', 'account.status.free'))).toBeVisible();
    await page.goto('/es/chat');
    await expect(field).toHaveValue(draft);
    await page.getByRole('link', { name: sentenceOf('es', 'layout.layout.myAccount') }).click();
    await change('Português', '/pt-br/account');
    expect(await stored()).toContain('Not finished');
    await follow(
      page.getByRole('button', { name: sentenceOf('pt-BR', 'account.account.logout') }),
      '**/pt-br/login',
    );
    expect(await stored()).not.toContain('Not finished');
  },
);
