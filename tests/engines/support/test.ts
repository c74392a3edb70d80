import { test as playwrightTest, type TestType } from 'playwright/test';
import { Phone } from '../../browser/support/phone.ts';
import { startLine, type Line } from '../../product/line.ts';
import { ensurePrograms } from '../programs.ts';
import { startFirefox } from './firefox.ts';
import { Page } from './page.ts';
import type { Engine, EngineName, Visitor } from './tab.ts';
import { startWebKit } from './webkit.ts';

type Options = { engineName: EngineName };
type Shared = { engine: Engine };
type Fixtures = {
  phone: Phone;
  /** The line between the browser and the site. */
  line: Line;
  visitor: Visitor;
  /** A page that sees the site directly, at its own address. */
  page: Page;
  /** A page that sees the site through `line`. */
  distant: Page;
};

/** Without Playwright's own page. */
const base = playwrightTest as TestType<object, object>;

/** Every test has a browser without a past, a phone, and a line of its own to the site. */
export const test = base.extend<Fixtures, Options & Shared>({
  engineName: ['firefox', { option: true, scope: 'worker' }],
  engine: [
    async ({ engineName }, use) => {
      const engine = await start(engineName);
      await use(engine);
      await engine.close();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  phone: async ({}, use) => use(new Phone()),
  line: async ({}, use) => {
    const line = await startLine(process.env.SITE_URL!);
    await use(line);
    await line.close();
  },
  visitor: async ({ engine }, use) => {
    const visitor = await engine.visit();
    await use(visitor);
    await visitor.close();
  },
  page: async ({ visitor }, use) => use(await openPage(visitor, process.env.SITE_URL!)),
  distant: async ({ visitor, line }, use) => use(await openPage(visitor, line.url)),
});

async function openPage(visitor: Visitor, site: string): Promise<Page> {
  const tab = await visitor.open();
  await tab.resize(1280, 900);
  return new Page(tab, site);
}

function start(name: EngineName): Promise<Engine> {
  const [program = '', browser = ''] = ensurePrograms(name);
  return name === 'firefox'
    ? startFirefox(program)
    : startWebKit({
        driver: program,
        browser,
      });
}

export { expect } from 'playwright/test';
