import * as v from 'valibot';

const encoder = new TextEncoder();

const Status = v.object({
  status: v.string(),
  recipient_id: v.optional(v.string(), ''),
  errors: v.optional(v.array(v.object({ code: v.number() })), []),
});

/** Only `statuses` is read: the bot receives the messages. */
const Notification = v.object({
  entry: v.array(
    v.object({
      changes: v.array(v.object({ value: v.object({ statuses: v.optional(v.array(Status), []) }) })),
    }),
  ),
});

/** Whether `X-Hub-Signature-256` is the app's signature over the raw body. */
export async function isSignedByWhatsapp(appSecret: string, header: string | null, body: string): Promise<boolean> {
  const hex = /^sha256=([\da-f]{64})$/.exec(header ?? '')?.[1];
  if (!hex) return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(appSecret), algorithm, false, ['verify']);
  const signature = Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
  return crypto.subtle.verify('HMAC', key, signature, encoder.encode(body));
}

/** The messages that WhatsApp could not deliver, by the recipient's WhatsApp id and Meta's error code. */
export function undeliveredIn(notification: unknown): { recipientId: string; code: number | undefined }[] {
  const parsed = v.safeParse(Notification, notification);
  if (!parsed.success) return [];
  const values = parsed.output.entry.flatMap(({ changes }) => changes.map(({ value }) => value));
  const failed = values.flatMap(({ statuses }) => statuses).filter(({ status }) => status === 'failed');
  return failed.map(({ recipient_id: recipientId, errors }) => ({ recipientId, code: errors[0]?.code }));
}
