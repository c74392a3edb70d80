import * as v from 'valibot';
import { publicPushHosts } from './contract/push.ts';
import { parseLimits, rateLimitEventsKeptMs } from './lib/rate-limits.ts';
import { keyNamesOf } from './lib/secrets.ts';

const text = v.pipe(v.string(), v.nonEmpty());
const address = v.pipe(v.string(), v.url());
/** Missing or empty turns the feature off. */
const optional = <Rule extends v.GenericSchema<string>>(rule: Rule) =>
  v.pipe(
    v.optional(v.union([v.literal(''), rule])),
    v.transform((value) => value || undefined),
  );
/** The current value first: how a secret is rotated. */
const rotating = v.pipe(
  text,
  v.transform((value) => value.trim().split(/\s+/)),
);
/** Two keys of one name would hide the second. */
const keyRing = v.pipe(
  text,
  v.regex(/^\s*[\w-]+:[\w-]{43,}={0,2}(\s+[\w-]+:[\w-]{43,}={0,2})*\s*$/),
  v.check((ring) => new Set(keyNamesOf(ring)).size === keyNamesOf(ring).length),
);
/** Such as `en es pt_BR`: the first is for everybody else. */
const templateLanguages = v.pipe(
  v.optional(
    v.pipe(v.string(), v.regex(/^\s*[a-z]{2,3}(_[A-Z]{2})?(\s+[a-z]{2,3}(_[A-Z]{2})?)*\s*$/)),
    'en_US',
  ),
  v.transform((value) => value.trim().split(/\s+/)),
);
/** Such as `5/1h 10/1d`, none longer than a day. */
const limits = (fallback: string) =>
  v.pipe(
    v.optional(v.pipe(v.string(), v.regex(/^\s*\d+\/\d+[smhd](\s+\d+\/\d+[smhd])*\s*$/)), fallback),
    v.transform(parseLimits),
    v.check((each) =>
      each.every(({ most, per }) => most > 0 && per > 0 && per <= rateLimitEventsKeptMs),
    ),
  );
const isWebhookSecret = (secret: string) =>
  /^(?:whsec_)?(?=.)(?:[a-z\d+/]{4})*(?:[a-z\d+/]{2}==|[a-z\d+/]{3}=)?$/i.test(secret);
/** Key pairs in base64url, the current one first. */
const keyPairs = v.pipe(
  optional(v.pipe(v.string(), v.regex(/^\s*B[\w-]{86}:[\w-]{43}(\s+B[\w-]{86}:[\w-]{43})*\s*$/))),
  v.transform((ring) => ring?.trim().split(/\s+/).map(keyPairOf)),
);
const hosts = (fallback: string) =>
  v.pipe(
    v.optional(v.string(), fallback),
    v.transform((list) => list.split(/\s+/).filter(Boolean)),
    v.everyItem((host) => /^(?:\*\.)?[a-z\d-]+(?:\.[a-z\d-]+)+$/.test(host) || isOrigin(host)),
  );
const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;
const positive = (fallback: number) =>
  v.pipe(
    v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,8}$/)), String(fallback)),
    v.transform(Number),
  );
const days = (fallback: number, most: number) =>
  v.pipe(
    v.optional(v.pipe(v.string(), v.regex(/^\d{1,5}$/)), String(fallback)),
    v.transform(Number),
    v.maxValue(most),
  );
/** A Durable Object takes no alarm after the year 2189. */
const mostDays = 36_500;

export const SettingRules = v.object({
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

  /** The bot notifies the user 30 days before. */
  ACCOUNT_RETENTION_DAYS: v.pipe(positive(730), v.minValue(60), v.maxValue(mostDays)),

  TURSO_DATABASE_URL: text,
  TURSO_AUTH_TOKEN: v.optional(v.string()),

  /** `kid:secret kid:secret`: the first signs, all verify. */
  SESSION_KEYS: keyRing,
  CODE_PEPPER: rotating,
  /** `kid:secret …`: the first wraps keys, all unwrap them. */
  CHAT_KEYS: keyRing,
  CHAT_RETENTION_DAYS: v.pipe(positive(90), v.maxValue(mostDays)),
  CHAT_MESSAGES_PER_MINUTE: positive(20),
  CHAT_MESSAGES_WAITING: positive(5),

  /** A version in it overrides `WHATSAPP_API_VERSION`. */
  WHATSAPP_API_BASE: v.pipe(
    v.optional(address, 'https://graph.facebook.com'),
    v.transform((url) => url.replace(/\/+$/, '')),
  ),
  WHATSAPP_API_VERSION: v.optional(v.pipe(v.string(), v.regex(/^v\d+\.\d+$/)), 'v25.0'),
  WHATSAPP_PHONE_NUMBER_ID: text,
  WHATSAPP_TOKEN: text,
  WHATSAPP_TEMPLATE_NAME: text,
  WHATSAPP_TEMPLATE_LANGUAGE: templateLanguages,
  /** With both, delivery reports are accepted. */
  WHATSAPP_APP_SECRET: optional(text),
  WHATSAPP_VERIFY_TOKEN: optional(text),

  /** Without it messages on the web are refused. */
  BOT_WEBHOOK_URL: optional(address),
  BOT_WEBHOOK_SECRET: v.pipe(rotating, v.everyItem(isWebhookSecret)),

  /** `public:private …`: the first is for new ones. */
  VAPID_KEYS: keyPairs,
  PUSH_HOSTS: hosts(publicPushHosts),

  STRIPE_API_BASE: v.optional(address, 'https://api.stripe.com'),
  STRIPE_SECRET_KEY: v.pipe(text, v.regex(/^(sk|rk)_(test|live)_/)),
  STRIPE_WEBHOOK_SECRET: rotating,
  ON_DISPUTE: v.optional(v.picklist(['cancel', 'keep']), 'cancel'),
  /** 0 turns the function off. */
  WITHDRAWAL_DAYS: days(14, 400),
  WITHDRAWAL_KEPT_DAYS: v.pipe(positive(3 * 365), v.minValue(60), v.maxValue(mostDays)),
  /** For each IPv6 /48 five times as many. */
  LIMIT_STATEMENTS_PER_ADDRESS: limits('20/1h'),

  /** Takes mails as JSON by POST. All three, or no mails. */
  MAIL_API_URL: optional(address),
  MAIL_API_KEY: optional(text),
  MAIL_FROM: optional(
    v.pipe(v.string(), v.regex(/^(?:[^<>@\r\n]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/)),
  ),

  /** Stripe asks for the address that it needs. */
  AUTOMATIC_TAX: v.pipe(
    v.optional(v.picklist(['on', 'off']), 'off'),
    v.transform((value) => value === 'on'),
  ),

  /** External tokens are accepted when all three are set. */
  EXTERNAL_TOKEN_ISSUER: optional(text),
  EXTERNAL_TOKEN_AUDIENCE: optional(text),
  EXTERNAL_TOKEN_JWKS_URL: optional(address),

  CODE_LIFETIME_SECONDS: positive(300),
  CODE_TRIES: positive(5),
  LIMIT_CODES_PER_NUMBER: limits('1/30s 5/1h 10/1d'),
  /** No contact clears it. */
  LIMIT_CODES_PER_NUMBER_HARD: limits('30/1d'),
  LIMIT_WRONG_TRIES_PER_NUMBER: limits('20/1d'),
  LIMIT_CODES_PER_ADDRESS: limits('20/1h'),
  LIMIT_CODE_REQUESTS_PER_ADDRESS: limits('60/1h'),
  LIMIT_TRIES_PER_ADDRESS: limits('60/5m'),
  /** For each IPv6 /48. */
  LIMIT_CODES_PER_NETWORK: limits('100/1h'),
  LIMIT_CODE_REQUESTS_PER_NETWORK: limits('300/1h'),
  LIMIT_TRIES_PER_NETWORK: limits('300/5m'),
  LIMIT_CALLS_PER_USER: limits('240/1m'),
  /** Numbers that have just written have twice as many. */
  CODE_BUDGET_PER_DAY: positive(5000),
  /** Above it only codes with a challenge are compared. */
  WRONG_TRIES_BUDGET_PER_DAY: positive(2000),
});

/** In base64url: the uncompressed point, the private scalar. */
export type KeyPair = { publicKey: string; privateKey: string };

function keyPairOf(text: string): KeyPair {
  const [publicKey = '', privateKey = ''] = text.split(':');
  return { publicKey, privateKey };
}

export type SettingValues = v.InferOutput<typeof SettingRules>;

export type SettingName = keyof SettingValues;
