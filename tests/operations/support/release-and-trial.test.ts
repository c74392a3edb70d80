import { expect, it } from 'vitest';
import { call, product } from '../shared-product.ts';
import { newNumber, newSubscriber, openTrialLink, writeToAssistant } from './subscriber.ts';
import { support, supportJson } from './support-command.ts';

it('release lets a limited number have its next code at once', async () => {
  const phone = await newSubscriber();
  const requestCode = () => call(`${product.siteUrl}/api/auth/request-otp`, 'POST', { phone });
  expect(await requestCode()).toMatchObject({ code: 'rate_limited' });
  expect(await supportJson('release', phone, '--yes')).toMatchObject({ cleared: expect.any(Number) });
  expect(await requestCode()).toMatchObject({ success: true });
});

it('trial creates a link that works, and no second one after it was used', async () => {
  const phone = newNumber();
  await writeToAssistant(phone);
  const { url, days } = await supportJson('trial', phone, '--tier', 'platinum', '--days', '5', '--yes');
  expect(days).toBe(5);
  await openTrialLink(url);
  expect(await supportJson('find', phone)).toMatchObject({ plan: { tier: 'platinum', trial: { tier: 'platinum' } } });
  const again = await support('trial', phone, '--tier', 'basic', '--days', '5', '--yes');
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already had its trial') });
});

it.each([
  ['--tier', 'gold'],
  ['--days', '31'],
  ['--days', 'three'],
])('trial refuses %s %s', async (...flags) => {
  expect(await support('trial', '+15551234567', ...flags, '--yes')).toMatchObject({ code: 2 });
});
