import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import * as v from 'valibot';
import { endpoints } from '../../contract/endpoints.ts';
import { SettingRules } from '../../setting-rules.ts';
import { supportToken } from '../../sign-in/session-token.ts';
import type { Values } from '../owner-command.ts';
import { httpRequest } from './doctor-finding.ts';
import {
  browser,
  obstacleOf,
  type Obstacle,
  type Probe,
  type Problem,
  problemsOfCall,
  type Site,
  noResponse,
} from './probe.ts';

const CallerSecrets = v.pick(SettingRules, [
  'BOT_WEBHOOK_SECRET',
  'STRIPE_WEBHOOK_SECRET',
  'SESSION_KEYS',
]);
export type CallerSecrets = v.InferOutput<typeof CallerSecrets>;

/** Null if one of them is missing or malformed. */
export function callerSecretsIn(values: Values): CallerSecrets | null {
  const read = v.safeParse(CallerSecrets, values);
  return read.success ? read.output : null;
}

const roomForFields = 100;
const nobody = 'nobody';

/** The API refuses each for its body alone. */
export async function problemsOfSigned(site: Site, secrets: CallerSecrets): Promise<Problem[]> {
  const authorization = `Bearer ${await supportToken(secrets, nobody)}`;
  const probes = [
    botCall(endpoints.botUsage.path, '{}', secrets),
    botCall(
      endpoints.botMessages.path,
      JSON.stringify({
        voice: 'A'.repeat(endpoints.botMessages.bodyLimitWithVoice - roomForFields),
      }),
      secrets,
    ),
    stripeEvent(secrets),
    ownersCall(authorization),
  ];
  const found = await Promise.all([
    ...probes.map((probe) => problemsOfCall(site, probe)),
    problemsOfStream(site, authorization),
  ]);
  return found.flat();
}

const changed = (secret: string) =>
  `Something on the way changes the call, or the site has another ${secret}.`;

function botCall(path: string, body: string, { BOT_WEBHOOK_SECRET }: CallerSecrets): Probe {
  const id = crypto.randomUUID();
  const at = new Date();
  return {
    who: 'the bot, signed',
    method: 'POST',
    path,
    agent: 'python-requests/2.32',
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(BOT_WEBHOOK_SECRET[0]!).sign(id, at, body),
    },
    body,
    status: 400,
    code: 'invalid_field',
    remedy: changed('BOT_WEBHOOK_SECRET'),
  };
}

function stripeEvent({ STRIPE_WEBHOOK_SECRET }: CallerSecrets): Probe {
  const { path, bodyLimit } = endpoints.stripeWebhook;
  const payload = JSON.stringify({ padding: 'A'.repeat(bodyLimit - roomForFields) });
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload,
    secret: STRIPE_WEBHOOK_SECRET[0]!,
  });
  return {
    who: 'Stripe, signed',
    method: 'POST',
    path,
    agent: 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
    headers: { 'stripe-signature': signature },
    body: payload,
    status: 400,
    code: 'invalid_body',
    remedy: changed('STRIPE_WEBHOOK_SECRET'),
  };
}

function ownersCall(authorization: string): Probe {
  return {
    who: 'the owner, signed',
    method: 'POST',
    path: endpoints.supportMove.path,
    agent: browser,
    headers: { authorization },
    status: 400,
    code: 'invalid_field',
    remedy: changed('SESSION_KEYS'),
  };
}

const isHeld: Obstacle = {
  what: 'gets nothing before it ends',
  remedy: 'Turn buffering and compression off for it in what stands before the Worker.',
};

async function problemsOfStream(site: Site, authorization: string): Promise<Problem[]> {
  const { path } = endpoints.supportStream;
  const about = `A stream of an open page (${path})`;
  const response = await httpRequest(site.siteUrl + path, {
    headers: {
      ...site.headers,
      authorization,
      accept: 'text/event-stream',
      'user-agent': browser,
    },
    redirect: 'manual',
  });
  if ('failure' in response) {
    const isSilent = response.failure === 'TimeoutError';
    return [{ about, ...(isSilent ? isHeld : noResponse(response.failure)) }];
  }
  const obstacle = response.ok ? await held(response) : await refusalOf(response);
  return obstacle ? [{ about, ...obstacle }] : [];
}

async function held({ body }: Response): Promise<Obstacle | null> {
  const reader = body!.getReader();
  const first = await reader.read().catch(() => null);
  await reader.cancel().catch(() => undefined);
  return first?.value ? null : isHeld;
}

async function refusalOf(response: Response): Promise<Obstacle> {
  const text = await response.text().catch(() => '');
  const refused = {
    what: `gets ${response.status}`,
    remedy: changed('SESSION_KEYS'),
  };
  return obstacleOf(response, text) ?? refused;
}
