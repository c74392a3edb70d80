import * as v from 'valibot';
import { postOutside } from '../lib/post-outside.ts';
import type { Settings } from '../settings.ts';

export type Mail = {
  id: string;
  to: string;
  subject: string;
  text: string;
};

/** `ours`: our key or sender; `theirs`: this mail. */
export type MailResult =
  | { sent: true }
  | {
      sent: false;
      status: number;
      fault: Fault;
    };
type Fault = 'ours' | 'theirs' | 'passing';

type Service = { url: string; key: string; from: string };

/** Null where the owner has set none up. */
export function mailService(settings: Settings): Service | null {
  if (!settings.isRight('MAIL_API_URL', 'MAIL_API_KEY', 'MAIL_FROM')) return null;
  const url = settings.require('MAIL_API_URL');
  const key = settings.require('MAIL_API_KEY');
  const from = settings.require('MAIL_FROM');
  return url && key && from ? { url, key, from } : null;
}

const timeoutMs = 10_000;

export async function sendMail(
  { url, key, from }: Service,
  { id, ...mail }: Mail,
): Promise<MailResult> {
  try {
    const response = await postOutside(url, {
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': id,
      },
      body: JSON.stringify({ from, ...mail }),
      timeoutMs,
    });
    const body: unknown = await response.json().catch(() => null);
    return resultOf(response, body);
  } catch {
    return { sent: false, status: 0, fault: 'passing' };
  }
}

/** Some services report an error inside a 200. */
const Failed = v.object({ success: v.literal(false) });

function resultOf({ ok, status }: Response, body: unknown): MailResult {
  if (ok)
    return v.is(Failed, body)
      ? {
          sent: false,
          status,
          fault: 'passing',
        }
      : { sent: true };
  return { sent: false, status, fault: faultOf(status) };
}

/** A 409 is the same mail, which is being sent. */
const passing = new Set([408, 409, 425, 429]);

function faultOf(status: number): Fault {
  if (status === 401 || status === 403) return 'ours';
  const isRefusal = status >= 400 && status < 500 && !passing.has(status);
  return isRefusal ? 'theirs' : 'passing';
}
