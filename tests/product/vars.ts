import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { parseEnv } from 'node:util';
import * as v from 'valibot';
import { publicPushHosts } from '../../worker/contract/push.ts';
import { howToGet } from '../../worker/operations/doctor/doctor-finding.ts';
import { SettingRules, type SettingName } from '../../worker/setting-rules.ts';

/** The addresses of the site and the local services, under the names of `.dev.vars`. */
export function addresses(sitePort: number, sandboxPort: number) {
  const sandbox = `http://127.0.0.1:${sandboxPort}`;
  return {
    SITE_URL: `http://localhost:${sitePort}`,
    TURSO_DATABASE_URL: `${sandbox}/libsql/`,
    WHATSAPP_API_BASE: `${sandbox}/whatsapp`,
    BOT_WEBHOOK_URL: `${sandbox}/bot/webhook`,
    EXTERNAL_TOKEN_ISSUER: `${sandbox}/issuer`,
    EXTERNAL_TOKEN_JWKS_URL: `${sandbox}/issuer/jwks.json`,
    STRIPE_API_BASE: sandbox,
    MAIL_API_URL: `${sandbox}/mail/emails`,
    // The public push services, and the one of the local services.
    PUSH_HOSTS: `${sandbox} ${publicPushHosts}`,
  };
}

type Addresses = ReturnType<typeof addresses>;
export type Vars = Record<string, string> & Addresses & ReturnType<typeof freshSecrets>;

const local = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/;

/**
 * Writes the Worker's settings into a vars file and returns all of the file's. Secrets, unknown lines and
 * addresses of real services stay; addresses of this machine follow the ports. What was missing comes last.
 */
export function refreshVars(file: string, addresses: Addresses): Vars {
  let text = existsSync(file) ? readText(file) : '';
  const present = Object.fromEntries(
    Object.entries(parseEnv(text)).filter(([, value]) => value),
  ) as Record<string, string>;
  const wanted: Vars = {
    ...freshSecrets(),
    ...addresses,
    ...present,
  };
  for (const [name, address] of Object.entries(addresses))
    if (present[name] && local.test(present[name])) wanted[name] = address;
  for (const [name, value] of Object.entries(wanted)) {
    if (present[name] === value) continue;
    const line = new RegExp(`^[ \\t]*${name}[ \\t]*=.*$`, 'm');
    const changed = `${name}=${value}`;
    text = line.test(text) ? text.replace(line, () => changed) : `${text.trimEnd()}\n${changed}`;
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text.trim()}\n`, { mode: 0o600 });
  return wanted;
}

/** The settings of a file that `refreshVars` has written; throws with what to do if one of them cannot be used. */
export function readVars(file: string): Vars {
  const vars = parseEnv(readText(file)) as Vars;
  const name = relative('.', file);
  const lost = Object.keys({
    ...freshSecrets(),
    ...addresses(0, 0),
  }).find((each) => !vars[each]);
  if (lost)
    throw new Error(`${name} lacks ${lost}: put it back, or stop and start again for a new one.`);

  const all = Object.keys(SettingRules.entries) as SettingName[];
  const wrong = all.find((each) => !v.is(SettingRules.entries[each], vars[each]));
  if (wrong) throw new Error(`${name} cannot be used: ${wrong} is malformed. ${howToGet[wrong]}`);
  return vars;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `${relative('.', file)} cannot be read (${code}): make it a readable file, or move it away for a new one.`,
      { cause: error },
    );
  }
}

function freshSecrets() {
  return {
    TURSO_AUTH_TOKEN: secret(32),
    SESSION_KEYS: `${secret(4)}:${secret(32)}`,
    CODE_PEPPER: secret(32),
    CHAT_KEYS: `${secret(4)}:${secret(32)}`,
    VAPID_KEYS: freshKeyPair(),
    WHATSAPP_PHONE_NUMBER_ID: '100000000000001',
    WHATSAPP_TOKEN: secret(32),
    WHATSAPP_TEMPLATE_NAME: 'sign_in_code',
    WHATSAPP_TEMPLATE_LANGUAGE: 'en es pt_BR',
    WHATSAPP_APP_SECRET: secret(16),
    WHATSAPP_VERIFY_TOKEN: secret(16),
    BOT_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    EXTERNAL_TOKEN_AUDIENCE: 'solace',
    STRIPE_SECRET_KEY: `sk_test_${randomBytes(24).toString('hex')}`,
    STRIPE_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    MAIL_API_KEY: secret(24),
    MAIL_FROM: 'Solace <receipts@solace.example>',
  };
}

/** A key pair of P-256 as `VAPID_KEYS` has it. */
export function freshKeyPair(): string {
  const { x, y, d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    format: 'jwk',
  });
  const point = Buffer.concat([
    Buffer.of(4),
    Buffer.from(x!, 'base64url'),
    Buffer.from(y!, 'base64url'),
  ]);
  return `${point.toString('base64url')}:${d}`;
}

const secret = (bytes: number): string => randomBytes(bytes).toString('base64url');
