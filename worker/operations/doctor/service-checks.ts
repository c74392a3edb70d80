import { brand } from '../../contract/brand.ts';
import { published } from '../../contract/languages.ts';
import { createECDH } from 'node:crypto';
import type { KeyPair, SettingValues } from '../../setting-rules.ts';
import type { Settings } from '../../settings.ts';
import { fine, wrong, type Finding, howToGet, httpRequest, warning } from './doctor-finding.ts';
import {
  type Target,
  type Values,
  howToGetOwnerSettings,
  OwnerSettings,
} from '../owner-command.ts';
import { graphUrl, templateLanguageFor } from '../../messaging/whatsapp.ts';
import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';

const addressSettings = [
  'SITE_URL',
  'TURSO_DATABASE_URL',
  'WHATSAPP_API_BASE',
  'BOT_WEBHOOK_URL',
  'STRIPE_API_BASE',
  'EXTERNAL_TOKEN_JWKS_URL',
  'MAIL_API_URL',
] as const;

export function checkAddresses(settings: Partial<SettingValues>, target: Target): Finding[] {
  const findings = [
    ...addressSettings.flatMap((name) => checkAddress(name, settings[name], target)),
    ...checkOrigins(settings.WEB_ORIGINS ?? []),
    ...checkSite(settings.SITE_URL, target),
  ];
  return findings.length > 0 ? findings : [fine('Addresses are well formed')];
}

function checkAddress(
  name: (typeof addressSettings)[number],
  value: string | undefined,
  target: Target,
): Finding[] {
  if (value === undefined) return [];
  if (!URL.canParse(value)) return [wrong(name, 'is no address', howToGet[name])];
  const { protocol, hostname } = new URL(value);
  const safe =
    protocol === 'https:' || (name === 'TURSO_DATABASE_URL' && /^(libsql|wss):$/.test(protocol));
  const here = /^(localhost|127\.|\[::1\])/.test(hostname);
  if (target === 'local' ? safe || protocol === 'http:' : safe && !here) return [];
  return [wrong(name, `must be https and not this machine in ${target}`, howToGet[name])];
}

function checkOrigins(origins: string[]): Finding[] {
  const bad = origins.filter(
    (origin) => !URL.canParse(origin) || new URL(origin).origin !== origin,
  );
  return bad.length > 0
    ? [wrong('WEB_ORIGINS', `${bad.join(' ')} is no origin`, howToGet.WEB_ORIGINS)]
    : [];
}

/** Pages contain their canonical address. */
function checkSite(site: string | undefined, target: Target): Finding[] {
  if (!site || !URL.canParse(site)) return [];
  if (new URL(site).origin !== site) return [wrong('SITE_URL', 'has a path', howToGet.SITE_URL)];
  if (target !== 'production' || site === brand.siteUrl) return [];
  return [
    wrong(
      'SITE_URL',
      `is not the address that the pages give`,
      'Write it as siteUrl in worker/contract/brand.ts.',
    ),
  ];
}

type Token = {
  is_valid?: boolean;
  expires_at?: number;
  granular_scopes?: { scope: string; target_ids?: string[] }[];
};
type Template = {
  name: string;
  language: string;
  status: string;
  category: string;
};
type Graph = {
  error?: { code?: number; message?: string };
  data?: unknown;
  display_phone_number?: string;
};

const sending = 'whatsapp_business_messaging';
const managing = 'whatsapp_business_management';

export async function checkWhatsapp(settings: Settings): Promise<Finding[]> {
  const token = settings.require('WHATSAPP_TOKEN');
  const told = await read(settings, `debug_token?input_token=${encodeURIComponent(token)}`);
  if ('finding' in told) return [told.finding];
  const facts = (told.data ?? {}) as Token;
  const tokenFinding = checkToken(facts);
  if (!tokenFinding.ok) return [tokenFinding];
  const accounts = facts.granular_scopes?.find(({ scope }) => scope === managing)?.target_ids ?? [];
  return [tokenFinding, await checkNumber(settings), ...(await checkTemplates(settings, accounts))];
}

function checkToken({
  is_valid: valid,
  expires_at: expiresAt = 0,
  granular_scopes: scopes = [],
}: Token): Finding {
  const bad = (what: string) => wrong('WHATSAPP_TOKEN', what, howToGet.WHATSAPP_TOKEN);
  if (!valid) return bad('is refused by WhatsApp');
  if (expiresAt > 0) return bad(`ends on ${new Date(expiresAt * 1000).toISOString().slice(0, 10)}`);
  const missing = [sending, managing].filter((name) => !scopes.some(({ scope }) => scope === name));
  return missing.length > 0
    ? bad(`lacks ${missing.join(' and ')}`)
    : fine('WhatsApp takes the token, which has no end');
}

async function checkNumber(settings: Settings): Promise<Finding> {
  const id = encodeURIComponent(settings.require('WHATSAPP_PHONE_NUMBER_ID'));
  const told = await read(settings, `${id}?fields=display_phone_number,verified_name`);
  if (!('finding' in told) && told.display_phone_number)
    return fine(`WhatsApp sends from ${told.display_phone_number}`);
  return wrong(
    'WHATSAPP_PHONE_NUMBER_ID',
    'is not a number of this token',
    howToGet.WHATSAPP_PHONE_NUMBER_ID,
  );
}

async function checkTemplates(settings: Settings, accounts: string[]): Promise<Finding[]> {
  const name = settings.require('WHATSAPP_TEMPLATE_NAME');
  const languages = settings.require('WHATSAPP_TEMPLATE_LANGUAGE');

  const found: Template[] = [];
  for (const account of accounts) {
    const told = await read(
      settings,
      `${account}/message_templates?name=${encodeURIComponent(name)}&limit=100`,
    );
    if (!('finding' in told))
      found.push(...(told.data as Template[]).filter((template) => template.name === name));
  }

  if (found.length === 0)
    return [
      wrong(
        'WHATSAPP_TEMPLATE_NAME',
        'is no template of the account',
        howToGet.WHATSAPP_TEMPLATE_NAME,
      ),
    ];

  const findings = languages.map((language) => checkTemplate(found, language, languages[0]!));
  return findings[0]!.ok ? [...findings, ...checkPublished(settings)] : [findings[0]!];
}

/** Only the first one stops the sign-in. */
function checkTemplate(found: Template[], language: string, first: string): Finding {
  const spoken = found.find((template) => template.language === language);
  const name = spoken ? 'WHATSAPP_TEMPLATE_NAME' : 'WHATSAPP_TEMPLATE_LANGUAGE';
  if (spoken?.status === 'APPROVED' && spoken.category === 'AUTHENTICATION')
    return fine(`WhatsApp has approved the template in ${language}`);
  const inLanguage = language === first ? '' : ` in ${language}`;
  const what = spoken
    ? `the template${inLanguage} is ${spoken.category} and ${spoken.status}, not AUTHENTICATION and APPROVED`
    : `${language} is no language of the template`;
  if (language === first) return wrong(name, what, howToGet[name]);
  return warning(name, `${what}, so its codes come in ${first}`, howToGet[name]);
}

function checkPublished(settings: Settings): Finding[] {
  const [first] = settings.require('WHATSAPP_TEMPLATE_LANGUAGE');
  const missing = published.filter(
    (tag) => templateLanguageFor(tag, settings).split('_')[0] !== tag.split('-')[0],
  );
  if (missing.length === 0) return [];
  const name = 'WHATSAPP_TEMPLATE_LANGUAGE';
  return [
    warning(
      name,
      `lacks ${missing.join(' and ')}, so their codes come in ${first}`,
      howToGet[name],
    ),
  ];
}

async function read(settings: Settings, path: string): Promise<Graph | { finding: Finding }> {
  const token = settings.require('WHATSAPP_TOKEN');
  const response = await httpRequest(`${graphUrl(settings)}/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });

  const failure = (why: string) => ({
    finding: wrong(
      'WHATSAPP_API_BASE',
      `WhatsApp does not answer (${why})`,
      howToGet.WHATSAPP_API_BASE,
    ),
  });
  if ('failure' in response) return failure(response.failure);

  const body: Graph | null = await response.json().catch(() => null);
  if (response.ok && body) return body;
  if (body?.error?.code !== 190 && response.status !== 401)
    return failure(`it answers ${response.status}`);
  return { finding: wrong('WHATSAPP_TOKEN', 'is refused by WhatsApp', howToGet.WHATSAPP_TOKEN) };
}

/** A signed body that is no event, which the bot ignores. */
const body = '{}';

export async function checkBot(settings: Settings): Promise<Finding[]> {
  const url = settings.require('BOT_WEBHOOK_URL');
  if (!url) {
    const what = 'is missing, so the bot gets no events and nobody can write on the web';
    return [warning('BOT_WEBHOOK_URL', what, howToGet.BOT_WEBHOOK_URL)];
  }

  const unsigned = await post(url, {});
  if (typeof unsigned === 'string') return [failureReason(unsigned)];
  if (unsigned < 400) {
    const what = 'the bot takes calls that nobody signed';
    return [wrong('BOT_WEBHOOK_URL', what, 'Let the bot verify them as Standard Webhooks says.')];
  }

  const signed = await post(url, signature(settings.require('BOT_WEBHOOK_SECRET')));
  if (typeof signed === 'string') return [failureReason(signed)];
  if (signed === 401 || signed === 403) {
    return [
      wrong('BOT_WEBHOOK_SECRET', 'the bot refuses what it signs', howToGet.BOT_WEBHOOK_SECRET),
    ];
  }

  return [fine('The bot answers and takes our signature')];
}

async function post(url: string, headers: Record<string, string>): Promise<number | string> {
  const all = { 'content-type': 'application/json', ...headers };
  const response = await httpRequest(url, {
    method: 'POST',
    headers: all,
    body,
    redirect: 'manual',
  });
  if ('failure' in response) return response.failure;
  await response.body?.cancel();
  if (response.status >= 300 && response.status < 400) return 'it redirects, which is not followed';
  const lost = response.status === 404 || response.status === 405 || response.status >= 500;
  return lost ? `it answers ${response.status}` : response.status;
}

function signature(secrets: string[]): Record<string, string> {
  const [id, at] = [`doctor_${crypto.randomUUID()}`, new Date()];
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}

function failureReason(why: string): Finding {
  return wrong('BOT_WEBHOOK_URL', `the bot does not answer (${why})`, howToGet.BOT_WEBHOOK_URL);
}

export function checkPush(settings: Settings, target: Target): Finding[] {
  const ring = settings.require('VAPID_KEYS');
  const hosts = settings.require('PUSH_HOSTS');
  const origins = hosts.filter((host) => host.includes('://'));

  const findings =
    origins.length > 0 && target !== 'local'
      ? [
          wrong(
            'PUSH_HOSTS',
            `${origins.join(' ')} is no name of a push service`,
            howToGet.PUSH_HOSTS,
          ),
        ]
      : [];

  if (!ring)
    return [
      ...findings,
      warning('VAPID_KEYS', 'is missing, so nobody is notified of a reply', howToGet.VAPID_KEYS),
    ];

  const isPair = ({ publicKey, privateKey }: KeyPair) => {
    const keys = createECDH('prime256v1');
    keys.setPrivateKey(privateKey, 'base64url');
    return keys.getPublicKey('base64url') === publicKey;
  };
  if (!ring.every(isPair))
    return [
      ...findings,
      wrong('VAPID_KEYS', 'has a public key of another private key', howToGet.VAPID_KEYS),
    ];

  return [...findings, fine('The keys of notices belong together')];
}

const issuerSettings = [
  'EXTERNAL_TOKEN_ISSUER',
  'EXTERNAL_TOKEN_AUDIENCE',
  'EXTERNAL_TOKEN_JWKS_URL',
] as const;

export async function checkIssuer(settings: Settings): Promise<Finding[]> {
  const missing = issuerSettings.filter((name) => !settings.require(name));
  if (missing.length === issuerSettings.length)
    return [fine('External tokens are off: EXTERNAL_TOKEN_ISSUER is not set')];
  if (missing.length > 0) return missing.map((name) => wrong(name, 'is missing', howToGet[name]));

  const url = settings.require('EXTERNAL_TOKEN_JWKS_URL')!;
  const bad = (what: string) => [
    wrong('EXTERNAL_TOKEN_JWKS_URL', what, howToGet.EXTERNAL_TOKEN_JWKS_URL),
  ];

  const response = await httpRequest(url);
  if ('failure' in response) return bad(`the issuer does not answer (${response.failure})`);
  if (!response.ok) return bad(`the issuer answers ${response.status}`);

  const body: { keys?: { kty?: string }[] } | null = await response.json().catch(() => null);
  const usable = (body?.keys ?? []).filter(
    ({ kty }) => kty === 'RSA' || kty === 'EC' || kty === 'OKP',
  );
  return usable.length > 0 ? [fine('The external issuer shows its keys')] : bad('holds no key');
}

const mailSettings = ['MAIL_API_URL', 'MAIL_API_KEY', 'MAIL_FROM'] as const;

/** The service looks at the key, and sends nothing. */
export async function checkMail(settings: Settings): Promise<Finding[]> {
  const missing = mailSettings.filter((name) => !settings.require(name));
  if (missing.length === mailSettings.length) {
    const what = 'is missing, so receipts of withdrawals go by the bot and as a file alone';
    return [warning('MAIL_API_URL', what, howToGet.MAIL_API_URL)];
  }
  if (missing.length > 0) return missing.map((name) => wrong(name, 'is missing', howToGet[name]));

  const url = settings.require('MAIL_API_URL');
  const key = settings.require('MAIL_API_KEY');
  const from = settings.require('MAIL_FROM');
  const response = await httpRequest(url!, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ from, subject: 'Doctor' }),
    redirect: 'manual',
  });
  const bad = (name: (typeof mailSettings)[number], what: string) => [
    wrong(name, what, howToGet[name]),
  ];
  if ('failure' in response)
    return bad('MAIL_API_URL', `the mail service does not answer (${response.failure})`);
  await response.body?.cancel();
  const { status } = response;
  if (status === 401 || status === 403)
    return bad('MAIL_API_KEY', 'is refused by the mail service');
  if (status !== 400 && status !== 422)
    return bad('MAIL_API_URL', `answers ${status} to a mail without a recipient, not 400 or 422`);
  return [fine('The mail service takes the key')];
}

const name = 'CONTACT_URL';

/** A message would reach a person. */
export async function checkContact(values: Values, target: Target): Promise<Finding> {
  const url = v.safeParse(OwnerSettings.entries[name], values[name]);
  const bad = (what: string) => wrong(name, what, howToGetOwnerSettings[name]);
  if (!url.success) return bad('is malformed');
  if (!url.output) {
    return warning(
      name,
      'is missing, so MESSAGES FROM THE CONTACT FORM GO NOWHERE',
      howToGetOwnerSettings[name],
    );
  }
  if (target !== 'local' && !url.output.startsWith('https:'))
    return bad(`must be https in ${target}`);

  const origin = values['SITE_URL']?.replace(/\/+$/, '') ?? '';
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  };
  const response = await httpRequest(url.output, {
    method: 'OPTIONS',
    headers,
    redirect: 'manual',
  });

  if ('failure' in response) return bad(`does not answer (${response.failure})`);
  await response.body?.cancel();

  const fault = preflightFault(response, origin);
  if (fault) return bad(`${fault}, so browsers cannot send to it`);
  return fine('The contact form has an address that takes its messages');
}

function preflightFault({ ok, status, headers }: Response, origin: string): string | null {
  const allowed = (name: string) => headers.get(`access-control-allow-${name}`) ?? '';
  const names = allowed('headers')
    .toLowerCase()
    .split(/\s*,\s*/);
  if (!ok) return `answers the preflight with ${status}`;
  if (!['*', origin].includes(allowed('origin'))) return `does not allow ${origin} in CORS`;
  return names.some((each) => each === '*' || each === 'content-type')
    ? null
    : 'does not allow the header content-type in CORS';
}
