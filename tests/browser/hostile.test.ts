import { expect as any, type Locator, type Page } from 'playwright/test';
import { startLine, type Line } from '../product/line.ts';
import { ensureHeadlessBrowser } from './browser.ts';
import { chat } from './support/chat.ts';
import { hostilities, type Hostility, type HostilityName } from './support/hostilities.ts';
import { microphoneArguments } from './support/microphone.ts';
import type { Phone } from './support/phone.ts';
import { test as base } from './support/test.ts';

/** Only a failure takes so long; the slowest wait is for three responses of 8 s. */
const expect = any.configure({ timeout: 60_000 });

type Fixtures = { person: Person };
type Options = { hostilityName: HostilityName };

/** The core journeys under one hostility at a time. The browser sees the site through a line, at the site's own address. */
const test = base.extend<Fixtures & Options, { line: Line }>({
  hostilityName: ['double clicks', { option: true }],
  line: [
    async ({}, use) => {
      const line = await startLine(process.env.SITE_URL!);
      await use(line);
      await line.close();
    },
    { scope: 'worker' },
  ],
  settings: async ({ settings, line }, use) =>
    use({
      ...settings,
      proxy: { server: line.url, bypass: '<-loopback>' },
    }),
  expectedErrors: async ({ expectedErrors, hostilityName }, use) => {
    const { errors = [] }: Hostility = hostilities[hostilityName];
    await use([...expectedErrors, ...errors]);
  },
  person: async ({ page, phone, line, hostilityName }, use) => {
    const hostility: Hostility = hostilities[hostilityName];
    await hostility.script?.(page);
    line.set(hostility.weather?.() ?? null);
    await use(new Person(page, phone, hostility));
    line.set(null);
  },
});

test.use({
  viewport: { width: 390, height: 844 },
  // With the animations, which the other tests leave out.
  contextOptions: { reducedMotion: 'no-preference' },
  launchOptions: {
    executablePath: ensureHeadlessBrowser(),
    args: microphoneArguments,
  },
});

/** Somebody who uses the site, whatever happens. */
class Person {
  readonly page: Page;
  readonly phone: Phone;
  readonly hostility: Hostility;

  constructor(page: Page, phone: Phone, hostility: Hostility) {
    this.page = page;
    this.phone = phone;
    this.hostility = hostility;
  }

  button = (name: string | RegExp) => this.page.getByRole('button', { name }).first();
  link = (name: string | RegExp) => this.page.getByRole('link', { name }).first();
  field = (name: string) => this.page.getByRole('textbox', { name });

  go = (path: string) => this.page.goto(path);

  /** For somebody who wants to look at what a person sees. */
  picture = (name: string) =>
    this.page.screenshot({ path: `${process.env['PICTURES']}/${name}.png` });

  click = (locator: Locator) =>
    this.hostility.click ? this.hostility.click(locator) : locator.click();

  /** Waits for what a step leads to, then suffers what comes after each. */
  async reaches(locator: Locator): Promise<void> {
    await expect(locator).toBeVisible();
    if (!this.hostility.afterStep) return;
    await this.hostility.afterStep(this.page);
    await expect(locator).toBeVisible();
  }

  /** Signs in on the login page, where the person is. */
  async signIn(): Promise<void> {
    await this.phone.write('Hi');
    await this.reaches(this.field('Phone number'));
    const code = this.field('Verification code');
    const number = this.field('Phone number');
    await this.until(code, this.button(/Send Verification Code/), () =>
      number.fill(this.phone.number, { timeout: 5000 }),
    );
    await this.reaches(code);
    await code.fill(await this.phone.code());
    const main = this.page.getByRole('heading', {
      name: 'My Account',
      level: 1,
    });
    await this.until(main, this.button(/^Verify Code$/));
    await this.reaches(main);
  }

  /** A button that works already is not pressed again. */
  async pressOnce(button: Locator): Promise<void> {
    if (await button.isEnabled().catch(() => false)) await this.click(button).catch(() => null);
  }

  /** Presses what leads to a goal, and again if the page offers it again. */
  async until(goal: Locator, again: Locator, before = async () => {}): Promise<void> {
    await expect(async () => {
      await expect(goal.or(again).first()).toBeVisible();
      if (!(await goal.isVisible())) {
        await before();
        await this.pressOnce(again);
      }
      await expect(goal).toBeVisible({ timeout: 25_000 });
    }).toPass({ timeout: 100_000 });
  }

  /** Signs in again where a load of the page has ended the session. */
  async comesBack(): Promise<void> {
    if (!this.hostility.losesSession) return;
    await this.go('/login');
    await this.signIn();
  }
}

const journeys = {
  login: async (person: Person) => {
    await person.go('/login');
    await person.signIn();
  },

  plan: async (person: Person) => {
    await person.go('/login');
    await person.signIn();
    await person.reaches(person.page.getByText('1 / 5').first());
    await person.phone.write('A message on WhatsApp');
    await person.reaches(person.page.getByText('2 / 5').first());
  },

  payment: async (person: Person) => {
    await person.go('/login');
    await person.signIn();
    await person.click(person.link('Plans'));
    const choose = person.button('Choose Basic');
    await person.reaches(choose);
    await person.click(choose);
    const pay = person.button('Go to payment');
    await person.reaches(pay);
    await person.click(pay);
    await person.button('Subscribe').click();
    await person.reaches(person.page.getByRole('heading', { name: 'Payment Successful!' }));
    await person.comesBack();
    if (!person.hostility.losesSession) await person.click(person.link('Manage My Account'));
    const plan = person.page.getByRole('region', {
      name: 'Current Plan',
      exact: true,
    });
    await person.reaches(plan.getByText('Basic', { exact: true }));
    expect((await person.phone.holdings()).subscriptions).toHaveLength(1);
  },

  'chat by text': async (person: Person) => {
    await openChat(person);
    for (const text of ['The first one', 'The second one', 'The third one']) {
      await sendText(person, text);
      await person.phone.botWrites(`A reply to: ${text}`);
      await person.reaches(chat.message(person.page, `A reply to: ${text}`));
    }
    const shown = await person.page.getByRole('listitem').allInnerTexts();
    const own = shown
      .filter((text) => text.startsWith('You said'))
      .map((text) => /The \w+ one/.exec(text)?.[0]);
    expect(own).toEqual(['The first one', 'The second one', 'The third one']);
    const heard = (await person.phone.webMessages()).map(({ text }) => text);
    expect(heard).toEqual(own);
  },

  'chat by voice': async (person: Person) => {
    await person.phone.beginTrial({ tier: 'premium', days: 3 });
    await openChat(person);
    const panel = person.page.getByRole('group', { name: 'Voice message' });
    const send = panel.getByRole('button', { name: /^Send/ });
    const own = chat.message(person.page, 'You said');
    // The microphone of the test may say nothing for a moment: people record again.
    await person.until(send.or(own), person.button('Record a voice message'));
    await expect(panel.getByRole('timer')).toHaveText(/[1-9]$/);
    await person.until(own.getByText('Delivered'), send);
    await person.reaches(own.getByText('Delivered'));
    await person.reaches(chat.message(person.page, 'Solace said'));
    await expect(own).toHaveCount(1);
  },

  help: async (person: Person) => {
    await person.go('/help-now');
    const country = person.page.getByText('Argentina').last();
    const lines = person.page.getByText('Centro de Asistencia al Suicida').first();
    await person.reaches(country);
    // A page that React renders anew in that moment shows the country closed.
    await expect(async () => {
      if (!(await lines.isVisible())) await country.click({ timeout: 5000 });
      await expect(lines).toBeVisible({ timeout: 5000 });
    }).toPass({ timeout: 100_000 });
    await expect(person.page.getByText('Something went wrong')).toHaveCount(0);
  },

  leaving: async (person: Person) => {
    await person.go('/login');
    await person.signIn();
    const remove = person.page.getByRole('main').getByRole('button', { name: 'Delete Account' });
    const sure = person.page
      .getByRole('alertdialog')
      .getByRole('button', { name: 'Delete Account' });
    const login = person.field('Phone number');
    await expect(async () => {
      await person.until(sure.or(login), remove.first());
      await person.until(login, sure);
    }).toPass({ timeout: 150_000 });
    await person.reaches(login);
  },
};

/** Chooses the web for messages, and accepts the notice. */
async function openChat(person: Person): Promise<void> {
  const { page } = person;
  await person.go('/login');
  await person.signIn();
  const open = person.link('Open the chat');
  await page.getByText('Chat through the web interface').click();
  await person.until(open, person.button('Update Platform'));
  await person.click(open);
  const accept = chat.accept(page);
  await person.reaches(accept);
  const check = async () => {
    await page.getByRole('checkbox', { name: 'I am 18 years or older.' }).check();
    await page.getByRole('checkbox', { name: /^I agree that/ }).check();
  };
  await check();
  await person.until(chat.field(page), accept);
  await person.reaches(chat.field(page));
}

async function sendText(person: Person, text: string): Promise<void> {
  const own = chat.message(person.page, text).filter({ hasText: 'You said' });
  await chat.field(person.page).fill(text);
  await person.click(
    person.page.getByRole('button', {
      name: 'Send',
      exact: true,
    }),
  );
  const sent = own.getByText(/Sent|Delivered/);
  await person.until(sent, own.getByRole('button', { name: 'Send again' }));
  await person.reaches(sent);
}

test.setTimeout(200_000);

for (const hostilityName of Object.keys(hostilities) as HostilityName[])
  test.describe(hostilityName, () => {
    test.use({ hostilityName });
    for (const [journey, take] of Object.entries(journeys)) {
      test(journey, { tag: '@full' }, async ({ person }) => {
        try {
          await take(person);
        } finally {
          if (process.env['PICTURES']) await person.picture(`${hostilityName}, ${journey}`);
        }
      });
    }
  });
