import * as v from 'valibot';
import { howToGetOwnerSettings, OwnerSettings } from '../../owner-settings.ts';
import type { Target, Values } from '../../target.ts';
import { httpRequest } from '../http-request.ts';
import { fine, warning, wrong, type Finding } from '../finding.ts';

const name = 'CONTACT_URL';

/**
 * Whether the contact address accepts the form's messages. Only sends a preflight, since a message would reach a
 * person.
 */
export async function checkContact(values: Values, target: Target): Promise<Finding> {
  const url = v.safeParse(OwnerSettings.entries[name], values[name]);
  const bad = (what: string) => wrong(name, what, howToGetOwnerSettings[name]);
  if (!url.success) return bad('is malformed');
  if (!url.output) {
    return warning(name, 'is missing, so MESSAGES FROM THE CONTACT FORM GO NOWHERE', howToGetOwnerSettings[name]);
  }
  if (target !== 'local' && !url.output.startsWith('https:')) return bad(`must be https in ${target}`);
  const origin = values['SITE_URL']?.replace(/\/+$/, '') ?? '';
  const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
  const response = await httpRequest(url.output, { method: 'OPTIONS', headers });
  if ('failure' in response) return bad(`does not answer (${response.failure})`);
  await response.body?.cancel();
  const allowed = response.headers.get('access-control-allow-origin');
  if (allowed === '*' || allowed === origin) return fine('The contact form has an address that takes its messages');
  return bad(`does not allow ${origin} in CORS, so browsers cannot send to it`);
}
