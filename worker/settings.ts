import * as v from 'valibot';
import { hitsKeptMs, parseLimits } from './auth/limits.ts';
import { log } from './log.ts';
import { oncePer } from './once-per.ts';

const text = v.pipe(v.string(), v.nonEmpty());
const address = v.pipe(v.string(), v.url());
/** Several values, the present one first: how a secret is rotated. */
const rotating = v.pipe(
  text,
  v.transform((value) => value.trim().split(/\s+/)),
);
const limits = (fallback: string) =>
  v.pipe(
    v.optional(v.pipe(v.string(), v.regex(/^\s*\d+\/\d+[smhd](\s+\d+\/\d+[smhd])*\s*$/)), fallback),
    v.transform(parseLimits),
    v.check((each) => each.every(({ per }) => per <= hitsKeptMs)),
  );
const isWebhookSecret = (secret: string) =>
  /^(?:whsec_)?(?=.)(?:[a-z\d+/]{4})*(?:[a-z\d+/]{2}==|[a-z\d+/]{3}=)?$/i.test(secret);
const seconds = (fallback: number) =>
  v.pipe(v.optional(v.pipe(v.string(), v.digits()), String(fallback)), v.transform(Number));

/** Every setting by name, with its rule and default. */
export const Settings = v.object({
  SITE_URL: v.pipe(
    address,
    v.transform((url) => url.replace(/\/+$/, '')),
  ),
  /** Other origins that may call the API, separated by spaces. */
  WEB_ORIGINS: v.pipe(
    v.optional(v.string(), ''),
    v.transform((value) => value.split(/[\s,]+/).filter(Boolean)),
  ),
  APPROVAL: v.optional(v.picklist(['auto', 'manual']), 'auto'),

  TURSO_DATABASE_URL: text,
  TURSO_AUTH_TOKEN: v.optional(v.string()),

  /** `kid:secret kid:secret`: the first signs, all verify. */
  SESSION_KEYS: v.pipe(text, v.regex(/^\s*[\w-]+:[\w-]{43,}={0,2}(\s+[\w-]+:[\w-]{43,}={0,2})*\s*$/)),
  CODE_PEPPER: rotating,

  WHATSAPP_API_BASE: address,
  WHATSAPP_PHONE_NUMBER_ID: text,
  WHATSAPP_TOKEN: text,
  WHATSAPP_TEMPLATE_NAME: text,
  WHATSAPP_TEMPLATE_LANGUAGE: v.optional(text, 'en_US'),

  BOT_WEBHOOK_URL: address,
  BOT_WEBHOOK_SECRET: v.pipe(rotating, v.everyItem(isWebhookSecret)),

  STRIPE_API_BASE: v.optional(address, 'https://api.stripe.com'),
  STRIPE_SECRET_KEY: v.pipe(text, v.regex(/^(sk|rk)_(test|live)_/)),
  STRIPE_WEBHOOK_SECRET: rotating,

  EXTERNAL_TOKEN_ISSUER: text,
  EXTERNAL_TOKEN_AUDIENCE: text,
  EXTERNAL_TOKEN_JWKS_URL: address,

  CODE_LIFETIME_SECONDS: seconds(300),
  CODE_TRIES: seconds(5),
  LIMIT_CODES_PER_NUMBER: limits('1/30s 5/1h 10/1d'),
  LIMIT_WRONG_TRIES_PER_NUMBER: limits('20/1d'),
  LIMIT_CODES_PER_ADDRESS: limits('20/1h'),
  LIMIT_CODE_REQUESTS_PER_ADDRESS: limits('60/1h'),
  LIMIT_TRIES_PER_ADDRESS: limits('60/5m'),
});

export type Settings = v.InferOutput<typeof Settings>;

/** The Worker's settings, or null (told once to the log, by name) when some are missing or malformed. */
export const settingsOf: (env: object) => Settings | null = oncePer((env: object) => {
  const result = v.safeParse(Settings, env);
  if (result.success) return result.output;
  const names = [...new Set(result.issues.map((issue) => String(issue.path?.[0]?.key)))];
  log('error', 'settings_invalid', { settings: names });
  return null;
});
