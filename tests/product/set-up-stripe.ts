import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const command = fileURLToPath(new URL('../../worker/operations/stripe-setup/command.ts', import.meta.url));

/** Runs `npm run stripe:setup` against the local Stripe; a real account is not changed. */
export async function setUpStripe(vars: Record<string, string>): Promise<void> {
  if (!/^https?:\/\/(localhost|127\.0\.0\.1)[:/]/.test(vars.STRIPE_API_BASE ?? '')) return;
  await promisify(execFile)(process.execPath, [command], { env: { ...process.env, ...vars } });
}
