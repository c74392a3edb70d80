import { expect, type Page } from 'playwright/test';
import type { cloneTree } from './live-clone.ts';

export type Site = {
  siteUrl: string;
  sandboxUrl: string;
  login: Page;
  spanish: Page;
  token: string;
};
type Clone = ReturnType<typeof cloneTree>;

/** One kind of edit: `to(n)` replaces `from` in the file, and `see` waits until edit n, or 0 for none, has its effect. */
export type Kind = {
  name: string;
  limitMs: number;
  file: string;
  from: string;
  to: (n: number) => string;
  see: (site: Site, n: number) => Promise<void>;
};

/** Only a failure takes this long. */
const timeout = 60_000;
const often = { timeout, intervals: [10] };

type Call = {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
};

/** What a call responds, as text; nothing while it cannot be reached. */
export async function textOf(url: string, init: Call = {}): Promise<string> {
  // Each from an address of its own, since the Worker limits the calls of one.
  const address = `10.${crypto.getRandomValues(new Uint8Array(3)).join('.')}`;
  const headers = { ...init.headers, 'cf-connecting-ip': address };
  const response = await fetch(url, {
    ...init,
    headers,
  }).catch(() => null);
  return (await response?.text().catch(() => '')) ?? '';
}

const badNumber = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ phone: '15551234567' }),
};

export const kinds: Kind[] = [
  {
    name: 'page text',
    limitMs: 1000,
    file: 'web/pages/login/login-page.tsx',
    from: "<div className={page({ width: 'form' })}>",
    to: (n) => `<div className={page({ width: 'form' })}><p>Edit {${n}}</p>`,
    see: ({ login }, n) =>
      expect(login.getByText(`Edit ${n}`, { exact: true })).toHaveCount(n === 0 ? 0 : 1, {
        timeout,
      }),
  },
  {
    name: 'component with a half-typed form',
    limitMs: 1000,
    file: 'web/pages/login/phone-step.tsx',
    from: '<form\n',
    to: (n) => `<form\n      data-edit="${n}"\n`,
    see: async ({ login }, n) => {
      await expect(login.locator(`form[data-edit="${n}"]`)).toHaveCount(n === 0 ? 0 : 1, {
        timeout,
      });
      await expect(login.locator('#phone')).toHaveValue('+1 555');
    },
  },
  {
    name: 'token',
    limitMs: 2000,
    file: 'web/theme/tokens.ts',
    from: "'6': rem(1.5)",
    to: (n) => `'6': rem(${1.5 + n / 16})`,
    see: ({ login }, n) =>
      expect
        .poll(
          () => login.locator('section').evaluate((card) => getComputedStyle(card).rowGap),
          often,
        )
        .toBe(`${24 + n}px`),
  },
  {
    name: 'word in Spanish',
    limitMs: 2000,
    file: 'web/words/es/login.json',
    from: '"title": "',
    to: (n) => `"title": "${n} `,
    see: ({ spanish }, n) =>
      expect(spanish.locator('h1')).toHaveText(n === 0 ? /^\D/ : new RegExp(`^${n} `), { timeout }),
  },
  {
    name: 'Worker response',
    limitMs: 1000,
    file: 'worker/endpoints/service.ts',
    from: "checks: { database: 'ok' }",
    to: (n) => `checks: { database: 'ok', edit: ${n} }`,
    see: ({ siteUrl }, n) =>
      expect
        .poll(async () => (await textOf(`${siteUrl}/api/health`)).match(/"edit":(\d+)/)?.[1], often)
        .toBe(n === 0 ? undefined : String(n)),
  },
  {
    name: 'contract schema',
    limitMs: 1000,
    file: 'worker/contract/schemas.ts',
    from: "'Please include country code (e.g., +1234567890)'",
    to: (n) => `'Edit ${n} of the country code'`,
    see: ({ siteUrl }, n) =>
      expect
        .poll(() => textOf(`${siteUrl}/api/auth/request-otp`, badNumber), often)
        .toContain(n === 0 ? 'Please include' : `Edit ${n} of`),
  },
  {
    name: 'Durable Object',
    limitMs: 1000,
    file: 'worker/live/live-user.ts',
    from: '?.until ?? null',
    to: (n) => `?.until ?? ${n * 1000}`,
    see: ({ siteUrl, token }, n) =>
      expect
        .poll(
          () =>
            textOf(`${siteUrl}/api/user/chat`, { headers: { authorization: `Bearer ${token}` } }),
          often,
        )
        .toContain(
          n === 0 ? '"typingUntil":null' : `"typingUntil":"${new Date(n * 1000).toISOString()}"`,
        ),
  },
  {
    name: 'local service',
    limitMs: 1000,
    file: 'tests/sandbox/start.ts',
    from: '`There is no ',
    to: (n) => `\`Edit ${n}: there is no `,
    see: ({ sandboxUrl }, n) =>
      expect
        .poll(() => textOf(`${sandboxUrl}/nothing`), often)
        .toContain(n === 0 ? 'There is no' : `Edit ${n}:`),
  },
];

/** Makes an edit and waits until it is seen; returns the time from saving (ms). */
export async function measureEdit(
  clone: Clone,
  { file, from, to, see }: Kind,
  site: Site,
  n: number,
): Promise<number> {
  const before = n > 1 && clone.read(file).includes(to(n - 1)) ? to(n - 1) : from;
  const savedAt = performance.now();
  clone.edit(file, before, n === 0 ? from : to(n));
  await see(site, n);
  return performance.now() - savedAt;
}
