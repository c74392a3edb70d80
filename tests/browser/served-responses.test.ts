import { privatePages, publicPages } from './support/served-pages.ts';
import { expect, test } from './support/test.ts';

test('every address answers with its own status', async ({ request, baseURL }) => {
  const get = async (path: string, navigates = true) =>
    request.get(baseURL + path, {
      maxRedirects: 0,
      headers: { 'Sec-Fetch-Mode': navigates ? 'navigate' : 'no-cors', Accept: navigates ? 'text/html' : '*/*' },
    });
  const known = [...publicPages.map(([path]) => path).filter((path) => path !== '/nope'), ...privatePages];
  for (const path of known) {
    const response = await get(path);
    expect([path, response.status()]).toEqual([path, 200]);
    expect(response.headers()['cache-control']).toBe('public, max-age=0, must-revalidate');
  }
  for (const path of ['/nope', '/plans/nope', '/Plans', '/wp-admin/setup.php']) {
    const response = await get(path);
    expect([path, response.status()]).toEqual([path, 404]);
    expect(await response.text()).toContain('Page Not Found');
  }
  for (const path of ['/assets/nope.js', '/nope.png']) {
    const response = await get(path, false);
    expect([path, response.status()]).toEqual([path, 404]);
    expect(response.headers()['cache-control']).not.toContain('immutable');
  }
});

test('assets are cached for good, pages are not', async ({ request, baseURL }) => {
  const html = await (await request.get(`${baseURL}/`)).text();
  const part = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1];
  const response = await request.get(`${baseURL}${part}`);
  expect(response.headers()['cache-control']).toBe('public, max-age=31536000, immutable');
});
