import type { Stripe } from 'stripe';
import { type World, type Call, idOf } from './world.ts';
import { pageOf, type PageParams } from './table.ts';
import { notFound } from './api/errors.ts';

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

const configurationId = 'pmc_1LocalStripeDefault0000';
const label = 'payment method configuration';
const names = ['card', 'link', 'us_bank_account'] as const;

type MethodName = (typeof names)[number];
type Preference = 'on' | 'off';
type Preferences = Record<MethodName, Preference>;
type Params = Partial<Record<MethodName, { display_preference?: { preference?: Preference } }>>;

/** As in a new account, the bank debit is on, which settles days later. */
const newAccount: Preferences = { card: 'on', link: 'on', us_bank_account: 'on' };

function preferences({ store }: World): Preferences {
  return { ...newAccount, ...store.get<Partial<Preferences>>('stripe/meta', 'methods') };
}

/** The id of the only configuration, and the payment methods that it has switched on. */
export function methodConfiguration(world: World): { id: string; switchedOn: MethodName[] } {
  const chosen = preferences(world);
  return { id: configurationId, switchedOn: names.filter((name) => chosen[name] === 'on') };
}

function present(world: World) {
  const chosen = preferences(world);
  const method = (name: MethodName) => ({
    available: chosen[name] === 'on',
    display_preference: { overridable: null, preference: chosen[name], value: chosen[name] },
  });
  return {
    id: configurationId,
    object: 'payment_method_configuration',
    active: true,
    application: null,
    is_default: true,
    livemode: false,
    name: 'Default',
    parent: null,
    card: method('card'),
    link: method('link'),
    us_bank_account: method('us_bank_account'),
  } satisfies Stripe.PaymentMethodConfiguration;
}

export function listMethodConfigurations(world: World, { params, path }: Call<PageParams>) {
  return pageOf([present(world)], params, path, { label, all: () => [present(world)] });
}

export function updateMethodConfiguration(world: World, call: Call<Params>) {
  if (idOf(call) !== configurationId) throw notFound(label, idOf(call), 'configuration');
  const chosen = names.flatMap((name) => {
    const preference = call.params[name]?.display_preference?.preference;
    return preference ? [[name, preference]] : [];
  });
  world.store.put('stripe/meta', 'methods', { ...preferences(world), ...Object.fromEntries(chosen) });
  return present(world);
}

/** As in a new account: pending until the owner enters the address of the head office in the Dashboard. */
export function retrieveTaxSettings() {
  return {
    object: 'tax.settings',
    defaults: { provider: 'stripe', tax_behavior: null, tax_code: null },
    head_office: null,
    livemode: false,
    status: 'pending',
    status_details: { pending: { missing_fields: ['head_office'] } },
  } satisfies Stripe.Tax.Settings;
}

export function listRegistrations(_: World, { params, path }: Call<PageParams>) {
  return pageOf([], params, path, { label: 'tax registration', all: () => [] });
}
