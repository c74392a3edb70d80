import type { Settings } from '../../settings.ts';
import { checkAddresses } from './checks/addresses.ts';
import { checkBot } from './checks/bot.ts';
import { checkContact } from './checks/contact.ts';
import { checkDatabase } from './checks/database.ts';
import { checkHelpLines } from './checks/help-lines.ts';
import { checkIssuer } from './checks/issuer.ts';
import { checkSecrets } from './checks/secrets.ts';
import { checkSettings, type SettingName } from './checks/settings.ts';
import { checkStripe } from './checks/stripe.ts';
import { checkWhatsapp } from './checks/whatsapp.ts';
import { fine, type Finding } from './finding.ts';
import type { Target, Values } from '../target.ts';

type ServiceCheck = { needs: SettingName[]; check: (settings: Settings) => Promise<Finding[]> };
type Options = { target: Target; mayBeBehind?: boolean };

/**
 * Returns all findings. A service is checked only if its settings are valid. `mayBeBehind` accepts missing migrations,
 * as before a deployment.
 */
export async function runChecks(values: Values, { target, mayBeBehind = false }: Options): Promise<Finding[]> {
  const { settings, findings } = checkSettings(values);
  findings.push(...checkSecrets(settings), ...checkAddresses(settings, target));
  const atFault = new Set<string>(findings.flatMap((finding) => (finding.ok ? [] : [finding.about])));
  const serviceChecks: ServiceCheck[] = [
    { needs: ['TURSO_DATABASE_URL', 'TURSO_AUTH_TOKEN'], check: (all) => checkDatabase(all, mayBeBehind) },
    { needs: ['STRIPE_API_BASE', 'STRIPE_SECRET_KEY', 'SITE_URL'], check: (all) => checkStripe(all, target) },
    { needs: whatsapp, check: checkWhatsapp },
    { needs: ['BOT_WEBHOOK_URL', 'BOT_WEBHOOK_SECRET'], check: checkBot },
    { needs: ['EXTERNAL_TOKEN_JWKS_URL'], check: checkIssuer },
  ];
  const fit = serviceChecks.filter(({ needs }) => !needs.some((name) => atFault.has(name)));
  const told = await Promise.all([
    ...fit.map(({ check }) => check(settings as Settings)),
    checkContact(values, target).then((finding) => [finding]),
  ]);
  return [...findings, ...told.flat(), ...checkHelpLines(values, new Date()), ...checkDisputes(settings)];
}

function checkDisputes({ ON_DISPUTE: choice }: Partial<Settings>): Finding[] {
  if (!choice) return [];
  return [fine(`A disputed payment ${choice === 'cancel' ? 'ends the subscription' : 'changes nothing'} (ON_DISPUTE)`)];
}

const whatsapp: SettingName[] = [
  'WHATSAPP_API_BASE',
  'WHATSAPP_API_VERSION',
  'WHATSAPP_TOKEN',
  'WHATSAPP_PHONE_NUMBER_ID',
  'WHATSAPP_TEMPLATE_NAME',
  'WHATSAPP_TEMPLATE_LANGUAGE',
];
