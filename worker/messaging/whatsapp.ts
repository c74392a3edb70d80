import type { Language } from '../contract/languages.ts';
import { log } from '../lib/log.ts';
import { postOutside } from '../lib/post-outside.ts';
import type { Settings } from '../settings.ts';
import * as v from 'valibot';
import type { Scope } from '../request-scope.ts';

const timeoutMs = 5000;

/** How long (ms) it takes at most to send a code, also in a second language. */
export const sendingMs = 2 * timeoutMs;

/** Missing, altered or not approved in the language, paused, or disabled. */
const noTemplate = new Set<number | undefined>([
  132_000, 132_001, 132_005, 132_007, 132_012, 132_015, 132_016,
]);

/** `forbidden`: nobody can get a code. */
export type Delivery = 'taken' | 'refused' | 'forbidden' | 'unknown';

export type SendResult = { delivery: Delivery; messageId?: string };

/** Not retried: the message may have arrived. */
export async function sendCode(
  { settings, language }: Scope<'language' | 'settings'>,
  whatsappId: string,
  { code, sentBy }: { code: string; sentBy: string },
): Promise<SendResult> {
  const [first] = settings.require('WHATSAPP_TEMPLATE_LANGUAGE') as [string];
  const own = templateLanguageFor(language, settings);

  let result = await sendTemplate(settings, {
    whatsappId,
    code,
    sentBy,
    language: own,
  });

  if ('status' in result && own !== first && noTemplate.has(result.code)) {
    log('error', 'template_missing', { language: own, code: result.code });
    result = await sendTemplate(settings, {
      whatsappId,
      code,
      sentBy,
      language: first,
    });
  }

  if (!('status' in result)) return result;

  const forbidden = isForbidden(result);
  const { status, code: reason } = result;
  log('error', forbidden ? 'whatsapp_forbidden' : 'whatsapp_refused', {
    status,
    code: reason,
  });
  return { delivery: forbidden ? 'forbidden' : 'refused' };
}

/** A token, permission, payment, number or account is blocked. */
const aboutUs = new Set([0, 3, 10, 190, 368, 131_031, 131_037, 131_042, 131_045, 133_010]);

/** Also a status may tell it, after WhatsApp has taken the message. */
export const isAboutUs = (code = -1): boolean => aboutUs.has(code) || (code >= 200 && code < 300);

function isForbidden({ status, code }: Refusal): boolean {
  return status === 401 || status === 403 || isAboutUs(code);
}

/** Of the language's region, else of any, else the first. */
export function templateLanguageFor(language: Language, settings: Settings): string {
  const known = settings.require('WHATSAPP_TEMPLATE_LANGUAGE');
  const [primary] = language.split('-');
  const exact = known.find((code) => code === language.replace('-', '_'));
  return exact ?? known.find((code) => code.split('_')[0] === primary) ?? known[0]!;
}

type Message = {
  whatsappId: string;
  code: string;
  sentBy: string;
  language: string;
};

type Refusal = { status: number; code: number | undefined };

async function sendTemplate(
  settings: Settings,
  { whatsappId, code, sentBy, language }: Message,
): Promise<SendResult | Refusal> {
  const text = [{ type: 'text', text: code }];
  const message = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: whatsappId,
    type: 'template',
    biz_opaque_callback_data: sentBy,
    template: {
      name: settings.require('WHATSAPP_TEMPLATE_NAME'),
      language: { policy: 'deterministic', code: language },
      components: [
        { type: 'body', parameters: text },
        { type: 'button', sub_type: 'url', index: '0', parameters: text },
      ],
    },
  };

  try {
    const response = await postOutside(
      `${graphUrl(settings)}/${settings.require('WHATSAPP_PHONE_NUMBER_ID')}/messages`,
      {
        headers: {
          authorization: `Bearer ${settings.require('WHATSAPP_TOKEN')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(message),
        timeoutMs,
      },
    );
    if (response.ok)
      return {
        delivery: 'taken',
        ...(await messageIdIn(response)),
      };

    const body = (await response.json().catch(() => null)) as { error?: { code?: number } } | null;
    return { status: response.status, code: body?.error?.code };
  } catch {
    return { delivery: 'unknown' };
  }
}

const Taken = v.object({ messages: v.tuple([v.object({ id: v.string() })]) });

async function messageIdIn(response: Response): Promise<{ messageId?: string }> {
  const { success, output } = v.safeParse(Taken, await response.json().catch(() => null));
  return success ? { messageId: output.messages[0].id } : {};
}

const encoder = new TextEncoder();

const Status = v.object({
  id: v.optional(v.string(), ''),
  status: v.string(),
  biz_opaque_callback_data: v.optional(v.string()),
  recipient_user_id: v.optional(v.string()),
  recipient_id: v.optional(v.string(), ''),
  errors: v.optional(v.array(v.object({ code: v.number() })), []),
});

const Notification = v.object({
  entry: v.array(
    v.object({
      changes: v.array(
        v.object({ value: v.object({ statuses: v.optional(v.array(Status), []) }) }),
      ),
    }),
  ),
});

/** Hexadecimal, or null. */
export function signatureOf({ headers }: Request): string | null {
  return /^sha256=([\da-f]{64})$/.exec(headers.get('x-hub-signature-256') ?? '')?.[1] ?? null;
}

export async function isSignedByWhatsapp(
  appSecret: string,
  hex: string,
  body: string,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(appSecret), algorithm, false, [
    'verify',
  ]);
  const signature = Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
  return crypto.subtle.verify('HMAC', key, signature, encoder.encode(body));
}

export type MessageStatus = {
  messageId: string;
  sentBy: string | undefined;
  state: 'sent' | 'delivered' | 'failed';
  recipientId: string;
  businessUserId: string | undefined;
  code: number | undefined;
};

const states: Record<string, MessageStatus['state']> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'delivered',
  failed: 'failed',
};

export function statusesIn(notification: unknown): MessageStatus[] {
  const parsed = v.safeParse(Notification, notification);
  if (!parsed.success) return [];
  const values = parsed.output.entry.flatMap(({ changes }) => changes.map(({ value }) => value));
  return values.flatMap(({ statuses }) => statuses.flatMap(readStatus));
}

function readStatus(status: v.InferOutput<typeof Status>): MessageStatus[] {
  const state = states[status.status];
  if (!state) return [];
  return [
    {
      messageId: status.id,
      sentBy: status.biz_opaque_callback_data,
      state,
      recipientId: status.recipient_id,
      businessUserId: status.recipient_user_id,
      code: status.errors[0]?.code,
    },
  ];
}

export function graphUrl(settings: Settings): string {
  const base = settings.require('WHATSAPP_API_BASE');
  const hasVersion = /\/v\d+\.\d+$/.test(base);
  return hasVersion ? base : `${base}/${settings.require('WHATSAPP_API_VERSION')}`;
}
