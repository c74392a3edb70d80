import type { HTTPException } from 'hono/http-exception';
import { jsonError } from '../controls.ts';

const messages = {
  100: 'Invalid parameter',
  190: 'Invalid OAuth access token - Cannot parse access token',
  131008: 'Required parameter is missing',
  131009: 'Parameter value is not valid',
  132000: 'Number of parameters does not match the expected number of params',
  132001: 'Template name does not exist in the translation',
  132015: 'Template is Paused',
  132016: 'Template is Disabled',
};
const statuses: Record<number, 401 | 404> = { 190: 401, 132001: 404 };

/** An error in the format of Meta's Graph API. */
export function graphError(
  code: keyof typeof messages,
  details: string = messages[code],
  type = 'OAuthException',
): HTTPException {
  return jsonError(statuses[code] ?? 400, {
    error: {
      message: `(#${code}) ${messages[code]}`,
      type,
      code,
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: crypto.randomUUID().replaceAll('-', '').slice(0, 23),
    },
  });
}

export const accountId = '100000000000009';
