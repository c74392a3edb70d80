import type { Settings } from '../../../settings.ts';
import { graphUrl } from '../../../messaging/graph-url.ts';
import { httpRequest } from '../http-request.ts';
import { fine, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';

type Token = { is_valid?: boolean; expires_at?: number; granular_scopes?: { scope: string; target_ids?: string[] }[] };
type Template = { name: string; language: string; status: string; category: string };
type Graph = { error?: { code?: number; message?: string }; data?: unknown; display_phone_number?: string };

const sending = 'whatsapp_business_messaging';
const managing = 'whatsapp_business_management';

/** Whether WhatsApp accepts the token, has the number, and has approved the template. */
export async function checkWhatsapp(settings: Settings): Promise<Finding[]> {
  const { WHATSAPP_TOKEN: token } = settings;
  const told = await read(settings, `debug_token?input_token=${encodeURIComponent(token)}`);
  if ('finding' in told) return [told.finding];
  const facts = (told.data ?? {}) as Token;
  const tokenFinding = checkToken(facts);
  if (!tokenFinding.ok) return [tokenFinding];
  const accounts = facts.granular_scopes?.find(({ scope }) => scope === managing)?.target_ids ?? [];
  return [tokenFinding, await checkNumber(settings), await checkTemplate(settings, accounts)];
}

function checkToken({ is_valid: valid, expires_at: expiresAt = 0, granular_scopes: scopes = [] }: Token): Finding {
  const bad = (what: string) => wrong('WHATSAPP_TOKEN', what, howToGet.WHATSAPP_TOKEN);
  if (!valid) return bad('is refused by WhatsApp');
  if (expiresAt > 0) return bad(`ends on ${new Date(expiresAt * 1000).toISOString().slice(0, 10)}`);
  const missing = [sending, managing].filter((name) => !scopes.some(({ scope }) => scope === name));
  return missing.length > 0
    ? bad(`lacks ${missing.join(' and ')}`)
    : fine('WhatsApp takes the token, which has no end');
}

async function checkNumber(settings: Settings): Promise<Finding> {
  const id = encodeURIComponent(settings.WHATSAPP_PHONE_NUMBER_ID);
  const told = await read(settings, `${id}?fields=display_phone_number,verified_name`);
  if (!('finding' in told) && told.display_phone_number)
    return fine(`WhatsApp sends from ${told.display_phone_number}`);
  return wrong('WHATSAPP_PHONE_NUMBER_ID', 'is not a number of this token', howToGet.WHATSAPP_PHONE_NUMBER_ID);
}

async function checkTemplate(settings: Settings, accounts: string[]): Promise<Finding> {
  const { WHATSAPP_TEMPLATE_NAME: name, WHATSAPP_TEMPLATE_LANGUAGE: language } = settings;
  const found: Template[] = [];
  for (const account of accounts) {
    const told = await read(settings, `${account}/message_templates?name=${encodeURIComponent(name)}&limit=100`);
    if (!('finding' in told)) found.push(...(told.data as Template[]).filter((template) => template.name === name));
  }
  if (found.length === 0)
    return wrong('WHATSAPP_TEMPLATE_NAME', 'is no template of the account', howToGet.WHATSAPP_TEMPLATE_NAME);
  const spoken = found.find((template) => template.language === language);
  if (!spoken)
    return wrong('WHATSAPP_TEMPLATE_LANGUAGE', 'is no language of the template', howToGet.WHATSAPP_TEMPLATE_LANGUAGE);
  if (spoken.status === 'APPROVED' && spoken.category === 'AUTHENTICATION')
    return fine('WhatsApp has approved the template');
  const what = `the template is ${spoken.category} and ${spoken.status}, not AUTHENTICATION and APPROVED`;
  return wrong('WHATSAPP_TEMPLATE_NAME', what, howToGet.WHATSAPP_TEMPLATE_NAME);
}

/** The Graph API's response for a path, or a finding about a missing response or a refusal. */
async function read(settings: Settings, path: string): Promise<Graph | { finding: Finding }> {
  const { WHATSAPP_TOKEN: token } = settings;
  const response = await httpRequest(`${graphUrl(settings)}/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const failure = (why: string) => ({
    finding: wrong('WHATSAPP_API_BASE', `WhatsApp does not answer (${why})`, howToGet.WHATSAPP_API_BASE),
  });
  if ('failure' in response) return failure(response.failure);
  const body: Graph | null = await response.json().catch(() => null);
  if (response.ok && body) return body;
  if (body?.error?.code !== 190 && response.status !== 401) return failure(`it answers ${response.status}`);
  return { finding: wrong('WHATSAPP_TOKEN', 'is refused by WhatsApp', howToGet.WHATSAPP_TOKEN) };
}
