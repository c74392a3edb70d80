import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { routes } from '../api/routes.ts';
import byHand from '../contract/requests-by-hand.json' with { type: 'json' };
import { newPerson, phone, draftHour, week } from './local-stripe.ts';
import responses from '../contract/responses.json' with { type: 'json' };
import { type Fields, isChoice, type Shape } from '../api/decode.ts';

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

const shapes = responses as unknown as Record<string, Shape>;

/** The differences between a value and a shape, by path; none if it is as Stripe's SDK declares it. */
function problems(shape: Shape, value: unknown, path = '$'): string[] {
  if (typeof shape === 'string') return ofText(shape, value, path);
  if (isChoice(shape)) return ofChoice(shape['|'], value, path);
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return value.flatMap((item, index) => problems(shape[0], item, `${path}[${index}]`));
  }
  return typeof value === 'object' && value !== null ? ofFields(shape, value, path) : [`${path} is no object`];
}

function ofText(shape: string, value: unknown, path: string): string[] {
  if (shape === 'any') return [];
  if (shape.startsWith('#')) return problems(shapes[shape.slice(1)] ?? 'any', value, path);
  if (shape === 'null') return value === null ? [] : [`${path} is not null`];
  if (shape.startsWith('enum:')) {
    return shape.slice(5).split('|').includes(String(value)) ? [] : [`${path} is ${String(value)}, not ${shape}`];
  }
  if (shape === 'metadata') {
    const isMap =
      typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string');
    return isMap ? [] : [`${path} is no metadata`];
  }
  return typeof value === shape ? [] : [`${path} is ${JSON.stringify(value)}, not ${shape}`];
}

function ofChoice(choices: Shape[], value: unknown, path: string): string[] {
  const found = choices.map((choice) => problems(choice, value, path));
  return (
    found
      .toSorted((one, other) => deepest(other) - deepest(one) || one.length - other.length)
      .find(() => found.every((list) => list.length > 0)) ?? []
  );
}

function deepest(found: string[]): number {
  return Math.max(0, ...found.map((problem) => problem.split(' ')[0]?.length ?? 0));
}

function ofFields(fields: Fields, value: object, path: string): string[] {
  const known = Object.entries(fields).flatMap(([key, shape]) => {
    const name = key.replace(/!$/, '');
    if (name in value) return problems(shape, (value as Record<string, unknown>)[name], `${path}.${name}`);
    return key.endsWith('!') ? [`${path}.${name} is missing`] : [];
  });
  const unknown = Object.keys(value).filter((name) => !(name in fields) && !(`${name}!` in fields));
  return [...known, ...unknown.map((name) => `${path}.${name} is not Stripe's`)];
}
