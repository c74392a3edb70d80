import { parseArgs } from 'node:util';
import { Stripe } from 'stripe';
import { applySeed } from './seed.ts';
import { startStripe } from './start-stripe.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '12111' },
    file: { type: 'string', default: ':memory:' },
    seed: { type: 'string' },
    site: { type: 'string', default: 'http://localhost:3000' },
    key: { type: 'string', default: 'sk_test_local' },
    webhookSecret: { type: 'string', default: 'whsec_local' },
  },
});

const { seed, site, key, webhookSecret } = values;
const started = await startStripe({
  port: Number(values.port),
  file: values.file,
  siteUrl: site,
  secretKey: key,
  webhookSecret,
}).catch((error: Error) => fail(`Port ${values.port} cannot be opened: ${error.message}`));
process.once('SIGINT', () => void started.close());
process.once('SIGTERM', () => void started.close());

const { port } = new URL(started.url);
const stripe = new Stripe(key, { host: 'localhost', port, protocol: 'http', telemetry: false });
if (seed) await applySeed(stripe, seed).catch((error: Error) => fail(error.message));
process.stdout.write(`Stripe is on ${started.url}, its key is ${key}\n`);

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
