import { parseArgs } from 'node:util';
import { Stripe } from 'stripe';
import { applySeed } from './seed.ts';
import { startStripe } from './start-stripe.ts';

const usage =
  'npm run stripe:local -- [--port N] [--file FILE] [--seed FILE] [--site URL] [--key KEY] [--webhookSecret SECRET]';

const { seed, site, key, webhookSecret, ...values } = readOptions();
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
const stripe = new Stripe(key, {
  host: 'localhost',
  port,
  protocol: 'http',
  telemetry: false,
});
if (seed) await applySeed(stripe, seed).catch((error: Error) => fail(error.message));
process.stdout.write(`Stripe is on ${started.url}, its key is ${key}\n`);

function readOptions() {
  const options = {
    help: { type: 'boolean' },
    port: { type: 'string', default: '12111' },
    file: { type: 'string', default: ':memory:' },
    seed: { type: 'string' },
    site: { type: 'string', default: 'http://localhost:3000' },
    key: { type: 'string', default: 'sk_test_local' },
    webhookSecret: { type: 'string', default: 'whsec_local' },
  } as const;
  // npm keeps options for itself that stand before `--`.
  const taken = (['port', 'file', 'seed', 'site'] as const).find(
    (name) => process.env[`npm_config_${name}`],
  );
  if (taken) fail(`Write --${taken} behind \`--\`, as in \`${usage}\`.`, 2);
  try {
    const { values: given } = parseArgs({ options });
    if (!given.help) return given;
  } catch {
    fail(`This command takes only options, behind \`--\`, as in \`${usage}\`.`, 2);
  }
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

function fail(message: string, code = 1): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
