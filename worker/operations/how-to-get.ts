import type { Settings } from '../settings.ts';

const random = 'Make one with `openssl rand -base64 48 | tr -d "+/=\\n" | cut -c1-43`.';
const limit = 'Write limits like `1/30s 5/1h 10/1d`, none longer than a day, or leave it out.';
const number = 'Write a whole number, or leave it out.';

/** Where the value of each setting comes from, for whoever misses it. */
export const howToGet: Record<keyof Settings, string> = {
  SITE_URL: 'Write the address of the site, such as https://solace.example.',
  WEB_ORIGINS: 'Write origins such as https://www.solace.example, separated by spaces, or leave it out.',
  APPROVAL: 'Write auto or manual, or leave it out.',
  TURSO_DATABASE_URL: 'Take it from `turso db show <database> --url`.',
  TURSO_AUTH_TOKEN: 'Make one with `turso db tokens create <database>`.',
  SESSION_KEYS: `Write \`name:secret\`, the secret of 43 characters. ${random}`,
  CODE_PEPPER: random,
  WHATSAPP_API_BASE: 'Write https://graph.facebook.com/v23.0.',
  WHATSAPP_PHONE_NUMBER_ID: 'Take the phone number ID from Meta: WhatsApp > API Setup.',
  WHATSAPP_TOKEN: 'Make a permanent token of a system user in Meta Business settings, with both WhatsApp permissions.',
  WHATSAPP_TEMPLATE_NAME: 'Make an authentication template with a copy-code button in WhatsApp Manager.',
  WHATSAPP_TEMPLATE_LANGUAGE: 'Write the language in which the template was approved, such as en_US.',
  BOT_WEBHOOK_URL: 'Write the address at which the bot takes events.',
  BOT_WEBHOOK_SECRET: 'Agree on one with the bot: `echo whsec_$(openssl rand -base64 32)`.',
  STRIPE_API_BASE: 'Leave it out, unless it is the local Stripe.',
  STRIPE_SECRET_KEY: 'Take a secret or restricted key from the Stripe dashboard: Developers > API keys.',
  STRIPE_WEBHOOK_SECRET: 'Take it from `npm run stripe:setup` or the Stripe dashboard: Developers > Webhooks.',
  EXTERNAL_TOKEN_ISSUER: 'Write the `iss` of the tokens that the external issuer signs.',
  EXTERNAL_TOKEN_AUDIENCE: 'Write the `aud` of the tokens that the external issuer signs.',
  EXTERNAL_TOKEN_JWKS_URL: 'Write the address of the key set of the external issuer.',
  CODE_LIFETIME_SECONDS: number,
  CODE_TRIES: number,
  LIMIT_CODES_PER_NUMBER: limit,
  LIMIT_WRONG_TRIES_PER_NUMBER: limit,
  LIMIT_CODES_PER_ADDRESS: limit,
  LIMIT_CODE_REQUESTS_PER_ADDRESS: limit,
  LIMIT_TRIES_PER_ADDRESS: limit,
};
