import type { SettingName } from '../../setting-rules.ts';

/**
 * One line of the doctor, with the next step
 * unless it is in order. None may hold a secret.
 */
export type Finding =
  | { ok: true; about: string; warning?: never; byHand?: never }
  | { ok: true; about: string; warning?: never; byHand: string; remedy: string }
  | { ok: true; about: string; warning: string; byHand?: never; remedy: string }
  | { ok: false; about: string; wrong: string; remedy: string };

export function fine(about: string): Finding {
  return { ok: true, about };
}

export function warning(about: string, what: string, remedy: string): Finding {
  return { ok: true, about, warning: what, remedy };
}

export function byHand(about: string, what: string, remedy: string): Finding {
  return { ok: true, about, byHand: what, remedy };
}

export function wrong(about: string, what: string, remedy: string): Finding {
  return { ok: false, about, wrong: what, remedy };
}

export function lineOf(finding: Finding): string {
  if (!finding.ok) return `✗ ${finding.about}: ${finding.wrong}. ${finding.remedy}`;
  if (finding.byHand)
    return `? ${finding.about}, check by hand: ${finding.byHand}. ${finding.remedy}`;
  return finding.warning
    ? `! ${finding.about}: ${finding.warning}. ${finding.remedy}`
    : `✓ ${finding.about}`;
}

const random = 'Make one with `openssl rand -base64 48 | tr -d "+/=\\n" | cut -c1-43`.';
const limit =
  'Write limits like `1/30s 5/1h 10/1d`, each at least 1 and none longer than a day, or leave it out.';
const number = 'Write a whole number of at least 1, or leave it out.';
const keys = `Write \`name:secret\`, each with another name, the secret of 43 characters. ${random}`;

const keyPairCommand =
  "`node -p \"e = require('crypto').createECDH('prime256v1'); e.generateKeys('base64url') + ':' + e.getPrivateKey('base64url')\"`";

export const howToGet: Record<SettingName, string> = {
  SITE_URL: 'Write the address of the site, such as https://solace.example.',
  WEB_ORIGINS:
    'Write origins such as https://www.solace.example, separated by spaces, or leave it out.',
  APPROVAL: 'Write auto or manual, or leave it out.',
  ACCOUNT_RETENTION_DAYS: 'Write days, from 60 to 36500, or leave it out.',
  TURSO_DATABASE_URL: 'Take it from `turso db show <database> --url`.',
  TURSO_AUTH_TOKEN: 'Make one with `turso db tokens create <database>`.',
  SESSION_KEYS: keys,
  CODE_PEPPER: random,
  CHAT_KEYS: keys,
  CHAT_RETENTION_DAYS: 'Write days, from 1 to 36500, or leave it out.',
  CHAT_MESSAGES_PER_MINUTE: number,
  CHAT_MESSAGES_WAITING: number,
  WHATSAPP_API_BASE: 'Leave it out, unless it is the local WhatsApp.',
  WHATSAPP_API_VERSION: 'Write a version of the Graph API such as v25.0, or leave it out.',
  WHATSAPP_PHONE_NUMBER_ID: 'Take the phone number ID from Meta: WhatsApp > API Setup.',
  WHATSAPP_TOKEN:
    'Make a permanent token of a system user in Meta Business settings, with both WhatsApp permissions.',
  WHATSAPP_TEMPLATE_NAME:
    'Make an authentication template with a copy-code button in WhatsApp Manager.',
  WHATSAPP_TEMPLATE_LANGUAGE:
    'Write the languages in which the template was approved, such as en es pt_BR.',
  WHATSAPP_APP_SECRET: 'Take it from Meta: App settings > Basic > App secret, or leave it out.',
  WHATSAPP_VERIFY_TOKEN: `Give the same value to Meta: WhatsApp > Configuration > Webhook. ${random}`,
  BOT_WEBHOOK_URL: 'Write the address at which the bot takes events.',
  BOT_WEBHOOK_SECRET: 'Agree on one with the bot: `echo whsec_$(openssl rand -base64 32)`.',
  VAPID_KEYS: `Make a pair: ${keyPairCommand}. Or leave it out.`,
  PUSH_HOSTS:
    'Write names of push services such as push.example or *.push.example, or leave it out.',
  STRIPE_API_BASE: 'Leave it out, unless it is the local Stripe.',
  STRIPE_SECRET_KEY:
    'Take a secret or restricted key from the Stripe dashboard: Developers > API keys.',
  STRIPE_WEBHOOK_SECRET:
    'Take it from `npm run stripe:setup` or the Stripe dashboard: Developers > Webhooks.',
  WITHDRAWAL_DAYS: 'Write days, from 0 (off) to 400, or leave it out (14).',
  WITHDRAWAL_KEPT_DAYS: 'Write days, from 60 to 36500, or leave it out (1095).',
  MAIL_API_URL:
    'Write the https address that takes mails as JSON, such as https://api.resend.com/emails, or leave it out.',
  MAIL_API_KEY: 'Make a key that may send mails and nothing else, at your mail service.',
  MAIL_FROM:
    'Write a sender of a domain that your mail service has verified, such as Solace <receipts@solace.example>.',
  ON_DISPUTE: 'Write cancel or keep, or leave it out.',
  AUTOMATIC_TAX: 'Write on or off, or leave it out. On needs Stripe Tax in the Stripe dashboard.',
  EXTERNAL_TOKEN_ISSUER: 'Write the `iss` of the tokens that the external issuer signs.',
  EXTERNAL_TOKEN_AUDIENCE: 'Write the `aud` of the tokens that the external issuer signs.',
  EXTERNAL_TOKEN_JWKS_URL: 'Write the address of the key set of the external issuer.',
  CODE_LIFETIME_SECONDS: number,
  CODE_TRIES: number,
  LIMIT_CODES_PER_NUMBER: limit,
  LIMIT_CODES_PER_NUMBER_HARD: limit,
  LIMIT_WRONG_TRIES_PER_NUMBER: limit,
  LIMIT_CODES_PER_ADDRESS: limit,
  LIMIT_CODE_REQUESTS_PER_ADDRESS: limit,
  LIMIT_TRIES_PER_ADDRESS: limit,
  LIMIT_CODES_PER_NETWORK: limit,
  LIMIT_CODE_REQUESTS_PER_NETWORK: limit,
  LIMIT_TRIES_PER_NETWORK: limit,
  LIMIT_STATEMENTS_PER_ADDRESS: limit,
  LIMIT_CALLS_PER_USER: limit,
  CODE_BUDGET_PER_DAY: number,
  WRONG_TRIES_BUDGET_PER_DAY: number,
};

const timeoutMs = 8000;

export async function httpRequest(
  url: string,
  init: RequestInit = {},
  limitMs = timeoutMs,
): Promise<Response | { failure: string }> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(limitMs) });
  } catch (error) {
    return { failure: failureReasonOf(error) };
  }
}

/**
 * The name of the error. Its message is not used,
 * since it may contain the address with a secret.
 */
export function failureReasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { code, name, cause } = error as Error & { code?: unknown };
  if (cause instanceof Error) return failureReasonOf(cause);
  return typeof code === 'string' ? code : name;
}
