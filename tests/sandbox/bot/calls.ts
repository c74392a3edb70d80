import { HTTPException } from 'hono/http-exception';
import { Webhook } from 'standardwebhooks';

/** The Worker did not respond (`status` is null), or returned an error. A control call then responds 502. */
export class ApiError extends HTTPException {
  readonly apiStatus: number | null;

  constructor(call: string, status: number | null, response: unknown) {
    const error = `The API ${status === null ? 'did not respond to' : `responded with ${status} to`} ${call}`;
    super(502, {
      message: error,
      res: Response.json(
        {
          error,
          call,
          status,
          response,
        },
        { status: 502 },
      ),
    });
    this.apiStatus = status;
  }
}

/** Posts as the bot: signed by Standard Webhooks with the first secret. */
export function createApi(siteUrl: string, secrets: string) {
  const webhook = new Webhook(secrets.trim().split(/\s+/)[0] ?? '');
  /** `id` is the idempotency key. Throws an `ApiError` also if the connection ends in the middle of the response. */
  return async function callApi<Result>(
    path: string,
    input: unknown,
    id = `msg_${crypto.randomUUID()}`,
  ): Promise<Result> {
    const body = JSON.stringify(input);
    const headers = signedHeaders(webhook, id, body);
    try {
      const init = {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(15_000),
      };
      const response = await fetch(siteUrl + path, init);
      const result = parse(await response.text());
      if (!response.ok) throw new ApiError(path, response.status, result);
      return result as Result;
    } catch (error) {
      throw error instanceof ApiError ? error : new ApiError(path, null, String(error));
    }
  };
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
