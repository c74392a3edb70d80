import { join } from 'node:path';
import { chromium } from 'playwright';
import { startSignedIn } from '../bench/rig/signed-in.ts';
import { startSite } from '../bench/rig/site.ts';
import { freePort } from '../product/machine.ts';
import { pages } from '../../web/words/page-heads.ts';

const root = join(import.meta.dirname, '../..');
// The one call that a public page makes by itself.
const api = { 'api/country': JSON.stringify({ success: true, country: null }) };

/** The pages of somebody who is signed in. */
export const isPrivate = (path: string): boolean => pages[path]?.isPublic === false;
/** Public pages, and private ones with a prerendered frame. The others are there for a moment only. */
export const audited = Object.keys(pages).filter((path) => !isPrivate(path) || pages[path]?.prerendering === 'shell');

export type Sites = { urlOf: (path: string) => string; stop: () => Promise<void> };

/**
 * The built website: for guests, and with the whole product behind it for a signed-in user, whose token the browser on
 * `browserPort` keeps. Each has its own origin, so that guests stay guests.
 */
export async function startSites(paths: string[], browserPort: number): Promise<Sites> {
  const guests = await startSite(join(root, 'dist/web'), await freePort(0, 'PORT'), api);
  const member = paths.some(isPrivate) ? await startSignedIn() : null;
  if (member) await storeToken(browserPort, member.url, member.token);
  return {
    urlOf: (path) => `${isPrivate(path) && member ? member.url : guests.url}${path}`,
    async stop() {
      await member?.stop();
      await guests.stop();
    },
  };
}

/** Lighthouse clears the cache before each visit, but not local storage. */
async function storeToken(port: number, url: string, token: string): Promise<void> {
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  const page = await browser.contexts()[0]!.newPage();
  await page.goto(`${url}/robots.txt`);
  await page.evaluate((stored) => localStorage.setItem('authToken', stored), token);
  await page.close();
  await browser.close();
}
