import { execFileSync } from 'node:child_process';
import { expect } from 'playwright/test';
import { callJson } from '../product/machine.ts';
import { kinds, measureEdit, type Kind, type Site } from './edits.ts';
import { cloneTree, isAlive, processesOf, runProduct } from './live-clone.ts';
import { newNumber, openBrowser, openSite, signIn } from './open-site.ts';

/** Measures `npm run dev`: how soon edits of each kind are seen, and whether anything is lost during many. */
const [each = 10, inARow = 50] = process.argv.slice(2).map(Number);

const clone = cloneTree();
const startedAt = performance.now();
const product = await runProduct(clone);
await product.ready();
const readyAfter = performance.now() - startedAt;
const browser = await openBrowser();
const ms = (time: number) => `${Math.round(time)} ms`;
const processes = processesOf(product.pid);

try {
  await measure();
} finally {
  await browser.close();
  await product.interrupt();
  const alive = processes.filter(isAlive);
  console.log(`Processes: ${processes.length} while it ran, ${alive.length} after Ctrl-C`);
  clone.remove();
}

async function measure(): Promise<void> {
  const firstPage = await browser.newPage();
  const openedAt = performance.now();
  await firstPage.goto(product.siteUrl);
  await firstPage.locator('h1').waitFor();
  console.log(
    `Ready after ${ms(readyAfter)}; the first page ${ms(performance.now() - openedAt)} later`,
  );
  await firstPage.close();

  const site = await openSite(browser, product);
  console.log(`${'kind'.padEnd(34)}median   worst    limit`);
  for (const kind of kinds) {
    const times: number[] = [];
    for (let n = 1; n <= each; n++) times.push(await measureEdit(clone, kind, site, n));
    report(kind, times);
    clone.edit(kind.file, kind.to(each), kind.from);
    await kind.see(site, 0);
  }
  await runInARow(site);
}

function report({ name, limitMs }: Kind, times: number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const [median = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  const cells = [median, worst, limitMs].map((time) => ms(time).padEnd(9));
  console.log(name.padEnd(34) + cells.join(''));
}

/** Edits of all kinds in turn, beside somebody whose chat is open and who gets a reply after each. */
async function runInARow(site: Site): Promise<void> {
  const phone = newNumber();
  const token = await signIn(product, phone);
  const page = await browser.newPage();
  await page.addInitScript((value) => localStorage.setItem('authToken', value), token);
  await page.goto(`${product.siteUrl}/chat`);
  await page.getByRole('textbox', { name: 'Message to Solace' }).waitFor();
  const memoryBefore = memoryOf(product.pid);
  for (let n = 1; n <= inARow; n++) {
    const kind = kinds[n % kinds.length]!;
    clone.edit(kind.file, kind.from, kind.to(n));
    await kind.see(site, n);
    await callJson('POST', `${product.sandboxUrl}/bot/replies`, {
      phone,
      text: `Reply ${n}.`,
    });
    await expect(page.getByText(`Reply ${n}.`, { exact: true })).toBeVisible({ timeout: 60_000 });
    clone.edit(kind.file, kind.to(n), kind.from);
    await kind.see(site, 0);
  }
  await expect(page.getByText(/^Reply \d+\.$/)).toHaveCount(inARow);
  const { messages } = await callJson<{ messages: object[] }>(
    'GET',
    `${product.siteUrl}/api/user/chat?limit=50`,
    undefined,
    token,
  );
  const memoryAfter = memoryOf(product.pid);
  console.log(
    `${inARow} edits in a row: ${messages.length} messages stored, every reply on the screen`,
  );
  console.log(
    `Memory of all processes: ${memoryBefore} MiB at the start, ${memoryAfter} MiB at the end`,
  );
}

/** The resident memory (MiB) of a process and all its children. */
function memoryOf(pid: number): number {
  const listed = execFileSync('ps', ['-o', 'rss=', '-p', processesOf(pid).join(',')], {
    encoding: 'utf8',
  });
  const kibibytes = listed.trim().split('\n').map(Number);
  return Math.round(kibibytes.reduce((sum, each) => sum + each, 0) / 1024);
}
