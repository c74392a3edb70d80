import type { Stripe } from 'stripe';
import type { World } from '../types/world.ts';

/** The settings of the Dashboard, which Stripe's API returns and cannot change. */
export type DashboardSettings = {
  chargesEnabled: boolean;
  icon: string | null;
  statementDescriptor: string | null;
  supportEmail: string | null;
};

const id = 'acct_1LocalStripe0000';
const country = 'US';

function enteredAtFirst(businessName: string): DashboardSettings {
  return {
    chargesEnabled: true,
    icon: 'file_1LocalStripeIcon000',
    statementDescriptor: businessName.toUpperCase(),
    supportEmail: 'support@solace.example',
  };
}

export function dashboardSettings({ store, settings }: World): DashboardSettings {
  return {
    ...enteredAtFirst(settings.businessName),
    ...store.get<Partial<DashboardSettings>>('stripe/meta', 'dashboard'),
  };
}

export function changeDashboardSettings(world: World, changes: Partial<DashboardSettings>): DashboardSettings {
  world.store.put('stripe/meta', 'dashboard', { ...dashboardSettings(world), ...changes });
  return dashboardSettings(world);
}

/** The account of the key. */
export function retrieveAccount(world: World) {
  const { chargesEnabled, icon, statementDescriptor, supportEmail } = dashboardSettings(world);
  return {
    id,
    object: 'account',
    business_profile: {
      mcc: '5734',
      minority_owned_business_designation: null,
      name: world.settings.businessName,
      specified_commercial_transactions_act_url: null,
      support_address: null,
      support_email: supportEmail,
      support_phone: null,
      support_url: null,
      url: world.settings.siteUrl,
    },
    business_type: 'company',
    charges_enabled: chargesEnabled,
    country,
    default_currency: 'usd',
    details_submitted: true,
    email: 'owner@solace.example',
    payouts_enabled: true,
    settings: settingsWith(icon, statementDescriptor, world.settings.businessName),
    type: 'standard',
  } satisfies Stripe.Account;
}

function settingsWith(icon: string | null, descriptor: string | null, name: string) {
  return {
    branding: { icon, logo: null, primary_color: null, secondary_color: null },
    card_payments: {
      statement_descriptor_prefix: descriptor?.slice(0, 10) ?? null,
      statement_descriptor_prefix_kana: null,
      statement_descriptor_prefix_kanji: null,
    },
    dashboard: { display_name: name, timezone: 'Etc/UTC' },
    payments: {
      statement_descriptor: descriptor,
      statement_descriptor_kana: null,
      statement_descriptor_kanji: null,
      statement_descriptor_prefix_kana: null,
      statement_descriptor_prefix_kanji: null,
    },
  } satisfies Stripe.Account.Settings;
}
