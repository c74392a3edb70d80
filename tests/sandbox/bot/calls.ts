import { Webhook } from 'standardwebhooks';

/** The Worker did not respond, or returned an error. */
export class ApiError extends Error {
  readonly path: string;
  readonly status: number | null;
  readonly response: unknown;

  constructor(path: string, status: number | null, response: unknown) {
    super(status === null ? `The API did not respond to ${path}` : `The API responded to ${path} with ${status}`);
    this.path = path;
    this.status = status;
    this.response = response;
  }
}

/** Posts as the bot: signed by Standard Webhooks with the first secret. */
export function createApi(siteUrl: string, secrets: string) {
  const webhook = new Webhook(secrets.trim().split(/\s+/)[0] ?? '');

  /** `id` is the idempotency key of the call. */
  return async function callApi<Result>(
    path: string,
    input: unknown,
    id = `msg_${crypto.randomUUID()}`,
  ): Promise<Result> {
    const response = await post(siteUrl + path, JSON.stringify(input), webhook, id).catch((error: unknown) => {
      throw new ApiError(path, null, String(error));
    });
    const text = await response.text();
    const body = parse(text);
    if (!response.ok) throw new ApiError(path, response.status, body);
    return body as Result;
  };
}

/** Fetches a recording as the bot. */
export function createRecordingFetch(siteUrl: string, secrets: string) {
  const webhook = new Webhook(secrets.trim().split(/\s+/)[0] ?? '');
  const path = '/api/bot/voice';

  return async function fetchRecording(phone: string, id: string): Promise<{ type: string; bytes: Buffer }> {
    const sent = post(siteUrl + path, JSON.stringify({ phone, id }), webhook, `msg_${crypto.randomUUID()}`);
    const response = await sent.catch((error: unknown) => {
      throw new ApiError(path, null, String(error));
    });
    if (!response.ok) throw new ApiError(path, response.status, parse(await response.text()));
    return { type: response.headers.get('content-type') ?? '', bytes: Buffer.from(await response.arrayBuffer()) };
  };
}

function post(url: string, body: string, webhook: Webhook, id: string): Promise<Response> {
  const headers = signedHeaders(webhook, id, body);
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(15_000) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The Standard Webhooks headers of a body with this id, signed now. */
export function signedHeaders(webhook: Webhook, id: string, body: string): Record<string, string> {
  const now = new Date();
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': webhook.sign(id, now, body),
  };
}
