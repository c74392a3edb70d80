import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lineOf } from '../../../worker/operations/doctor/finding.ts';
import { checkSettings, runChecks } from '../../../worker/operations/doctor/run-checks.ts';
import { checkStripeAccount } from '../../../worker/operations/doctor/stripe-checks.ts';
import type { Settings } from '../../../worker/settings.ts';
import type { Values } from '../../../worker/operations/target.ts';
import { brokenSetUps } from './broken-set-ups.ts';
import { addressOf, openStripe, serve, startFixtures, type Fixtures } from './fixtures.ts';

let fixtures: Fixtures;
/** What the doctor prints although everything is in order. */
let usual: string[];
beforeAll(async () => {
  fixtures = await startFixtures();
  usual = await complaints();
});
afterAll(() => fixtures.close());

const complaints = async (more: Values = {}) =>
  (await runChecks({ ...fixtures.vars, ...more }, { target: 'local' }))
    .map(lineOf)
    .filter((line) => !line.startsWith('✓'));

describe('the doctor names in one sentence, with the next step,', () => {
  it.each(brokenSetUps)('$name', async ({ values, breaks, says }) => {
    const repair = await breaks?.(fixtures);
    const found = (await complaints(values?.(fixtures))).filter((line) => !usual.includes(line));
    await repair?.();
    expect(found.map(shortened)).toEqual([says]);
    expect(await complaints()).toEqual(usual);
  });
});

/** The list of migrations grows, and Stripe's ids are random. */
function shortened(line: string): string {
  return line.replace(/(?<=0000_accounts), [\w, ]+\./, ', …').replace(/price_1\w+/, '…');
}

describe('what Stripe’s API does not show', () => {
  const linesOf = async (target: 'local' | 'preview', stripe = openStripe(fixtures)) => {
    const { settings } = checkSettings(fixtures.vars);
    return (await checkStripeAccount(stripe, settings as Settings, target)).map(lineOf);
  };

  it('stands in one line for a person, and not on this machine', async () => {
    const lines = await linesOf('preview');
    expect(lines.filter((line) => line.startsWith('?'))).toEqual([
      '? Stripe Dashboard, check by hand: retries of failed payments and what follows the last one; e-mails about receipts, failed payments and authentication; one subscription per customer; who is told about disputes. The checklist is in worker/docs/runbook.md#stripe-dashboard.',
    ]);
    expect((await linesOf('local')).filter((line) => line.startsWith('?'))).toEqual([]);
  });

  it('includes what a restricted key may not read', async () => {
    const refusing = await serve((_, response) => response.writeHead(403).end('{"error":{"message":"no permission"}}'));
    const { port } = new URL(addressOf(refusing));
    const stripe = new Stripe('rk_test_x', { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0 });
    const lines = await linesOf('local', stripe);
    refusing.close();
    expect(lines).toEqual([expect.stringMatching(/^\? .*the account \(the key may not read it\); payment methods/)]);
  });
});
