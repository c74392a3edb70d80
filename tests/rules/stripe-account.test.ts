import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { subscribedEvents } from '../../worker/operations/stripe-setup/stripe-setup.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The text of all files of the Worker's folders. */
const sourcesOf = (...folders: string[]) =>
  folders
    .flatMap((folder) =>
      readdirSync(new URL(`worker/${folder}`, root), {
        recursive: true,
        encoding: 'utf8',
      }).map((file) => `worker/${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.ts'))
    .map(read)
    .join('\n');

const textsIn = (source: string) => [...source.matchAll(/'([a-z_.]+)'/g)].map(([, text]) => text!);

/** The SDK's types of an event's name take any text. */
const known = textsIn(
  /type EnabledEvent = [^;]+/.exec(
    read('node_modules/stripe/esm/resources/WebhookEndpoints.d.ts'),
  )![0],
);
const subscribed: readonly string[] = subscribedEvents;

describe('the webhook endpoint', () => {
  it('asks for events that Stripe has', () => {
    expect(subscribed.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('asks for every event that the Worker looks for', () => {
    const named = textsIn(sourcesOf('billing', 'endpoints', 'withdrawal'));
    const handled = named.filter((text) => known.includes(text));
    expect(handled).toContain('charge.refunded');
    expect(handled.filter((name) => !subscribed.includes(name))).toEqual([]);
  });
});

/** Read where the key allows it. */
const optional = ['accounts', 'paymentMethodConfigurations', 'tax'];

it('the doctor asks for access to all that is called at Stripe', () => {
  const partsIn = (source: string) =>
    [...source.matchAll(/\bstripe\s*\.(\w+)\s*\./g)].map(([, part]) => part!);
  const [reads] = /^async function refusedReads[^]*?^}/m.exec(
    read('worker/operations/doctor/stripe-checks.ts'),
  )!;
  const asked = [...partsIn(reads), ...optional];
  const called = partsIn(sourcesOf('billing', 'withdrawal', 'operations'));
  expect([...new Set(called)].filter((part) => !asked.includes(part))).toEqual([]);
});
