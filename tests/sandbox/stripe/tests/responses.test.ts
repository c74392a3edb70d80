import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { routes } from '../api/routes.ts';
import byHand from '../contract/requests-by-hand.json' with { type: 'json' };
import { problems } from './matches-shape.ts';
import { newPerson, phone } from './subscriber.ts';
import { draftHour, week } from './start-stripe.ts';

/** Stripe's full OpenAPI file, which is not part of the repository; the files generated from it are. */
const openapi = new URL('../../../../../shared/stripe/openapi-subset.json', import.meta.url);

/** The shapes lack the objects of the Dashboard's settings, which the SDK's types describe. */
const accountPath = /^\/v1\/(account|tax|payment_method_configurations)/;

test('every kind of object is as the SDK declares it, in responses and in events', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('premium');
  await me.portal('switch', { price: me.catalogue.prices.basic });
  await me.advance(week + draftHour + 60);
  await me.setCard(true);
  await me.advance(week);
  const { data: charges } = await me.stripe.charges.list({ customer: me.customer });
  await me.stripe.refunds.create({ charge: charges.find(({ paid }) => paid)?.id ?? '', amount: 100 });
  await me.control('POST', `/customers/${phone}/dispute`);
  await me.stripe.setupIntents.create({ customer: me.customer, metadata: { tier: 'basic' } });
  await me.stripe.subscriptions.cancel(id);

  const get = async (path: string) => {
    const response = await fetch(`${me.url}${path}`, { headers: { authorization: 'Bearer sk_test_local' } });
    return (await response.json()) as { object: string; data: { object: string }[] };
  };
  const queries: Record<string, string> = {
    '/v1/payment_methods': `customer=${me.customer}`,
    '/v1/subscriptions': 'status=all',
  };
  const lists = routes
    .filter(
      ([method, path]) =>
        method === 'GET' && !path.includes(':') && !path.endsWith('/search') && !accountPath.test(path),
    )
    .map(([, path]) => path);
  for (const path of lists) {
    const { data } = await get(`${path}?${queries[path] ?? 'limit=100'}`);
    expect(data.length, path).toBeGreaterThan(0);
    for (const object of data) expect(problems(`#${object.object}`, object), path).toEqual([]);
  }
  for (const { event } of me.shop.received)
    expect(problems(`#${event.data.object.object}`, event.data.object), event.type).toEqual([]);
  const expanded = await get(
    `/v1/subscriptions/${id}?expand[]=latest_invoice.payments&expand[]=customer&expand[]=default_payment_method`,
  );
  expect(problems('#subscription', expanded)).toEqual([]);
  const portal = await me.stripe.billingPortal.sessions.create({ customer: me.customer });
  expect(problems('#billing_portal.session', JSON.parse(JSON.stringify(portal)))).toEqual([]);
  const objects = (await me.control('GET', `/customers/${phone}`)) as Record<string, { object: string }[]>;
  for (const object of Object.values(objects).flat()) expect(problems(`#${object.object}`, object)).toEqual([]);
});

test.runIf(existsSync(openapi))('the full file has every endpoint of the committed shapes', async () => {
  const { paths } = JSON.parse(readFileSync(openapi, 'utf8')) as { paths: Record<string, Record<string, unknown>> };
  const known = new Set(
    Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => normalized(method, path))),
  );
  for (const [method, path] of routes) {
    if (!(`${method} ${path}` in byHand)) expect(known).toContain(normalized(method, path));
  }
});

function normalized(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}|:\w+/g, ':id')}`;
}
