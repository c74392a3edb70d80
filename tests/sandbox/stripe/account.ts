import type { Stripe } from 'stripe';
import { businessName, type World, type Call, idOf } from './world.ts';
import { newObject, pageOf, type PageParams } from './table.ts';
import { invalid, notFound } from './api/errors.ts';
import type { Price } from './objects.ts';

/** The settings of the Dashboard, which Stripe's API returns and cannot change. */
export type DashboardSettings = {
  chargesEnabled: boolean;
  icon: string | null;
  statementDescriptor: string | null;
  /** Whether prices that do not say so contain the tax: `exclusive`, `inclusive` or `inferred_by_currency`. */
  taxBehavior: string | null;
  /** The country of the head office. */
  taxOrigin: string | null;
};

export function dashboardSettings({ store }: World): DashboardSettings {
  return {
    chargesEnabled: true,
    icon: 'file_1LocalStripeIcon000',
    statementDescriptor: businessName.toUpperCase(),
    taxBehavior: null,
    taxOrigin: null,
    ...store.get<Partial<DashboardSettings>>('stripe/meta', 'dashboard'),
  };
}

export function changeDashboardSettings(
  world: World,
  changes: Partial<DashboardSettings>,
): DashboardSettings {
  world.store.put('stripe/meta', 'dashboard', {
    ...dashboardSettings(world),
    ...changes,
  });
  return dashboardSettings(world);
}

/** The account of the key, as far as the local Stripe has one. */
export function retrieveAccount(world: World) {
  const { chargesEnabled, icon, statementDescriptor } = dashboardSettings(world);
  return {
    id: 'acct_1LocalStripe0000',
    object: 'account',
    business_profile: {
      name: businessName,
      support_email: 'support@solace.example',
      support_url: null,
    },
    charges_enabled: chargesEnabled,
    country: 'US',
    default_currency: 'usd',
    settings: {
      branding: { icon, logo: null },
      payments: { statement_descriptor: statementDescriptor },
    },
    type: 'standard',
  };
}

const configurationId = 'pmc_1LocalStripeDefault0000';
const label = 'payment method configuration';
const names = ['card', 'link', 'us_bank_account'] as const;

type MethodName = (typeof names)[number];
type Preference = 'on' | 'off';
type Preferences = Record<MethodName, Preference>;
type Params = Partial<Record<MethodName, { display_preference?: { preference?: Preference } }>>;

/** As in a new account, the bank debit is on, which settles days later. */
const newAccount: Preferences = {
  card: 'on',
  link: 'on',
  us_bank_account: 'on',
};

function preferences({ store }: World): Preferences {
  return {
    ...newAccount,
    ...store.get<Partial<Preferences>>('stripe/meta', 'methods'),
  };
}

/** The id of the only configuration, and the payment methods that it has switched on. */
export function methodConfiguration(world: World): {
  id: string;
  switchedOn: MethodName[];
} {
  const chosen = preferences(world);
  return {
    id: configurationId,
    switchedOn: names.filter((name) => chosen[name] === 'on'),
  };
}

function present(world: World) {
  const chosen = preferences(world);
  const method = (name: MethodName) => ({
    available: chosen[name] === 'on',
    display_preference: {
      overridable: null,
      preference: chosen[name],
      value: chosen[name],
    },
  });
  return newObject<Stripe.PaymentMethodConfiguration>({
    id: configurationId,
    object: 'payment_method_configuration',
    card: method('card'),
    link: method('link'),
    us_bank_account: method('us_bank_account'),
  });
}

export function listMethodConfigurations(world: World, { params, path }: Call<PageParams>) {
  return pageOf([present(world)], params, path, {
    label,
    all: () => [present(world)],
  });
}

export function updateMethodConfiguration(world: World, call: Call<Params>) {
  if (idOf(call) !== configurationId) throw notFound(label, idOf(call), 'configuration');
  const chosen = names.flatMap((name) => {
    const preference = call.params[name]?.display_preference?.preference;
    return preference ? [[name, preference]] : [];
  });
  world.store.put('stripe/meta', 'methods', {
    ...preferences(world),
    ...Object.fromEntries(chosen),
  });
  return present(world);
}

/** As in a new account: pending until the owner enters the address of the head office in the Dashboard. */
export function retrieveTaxSettings(world: World): Stripe.Tax.Settings {
  const { taxBehavior, taxOrigin: country } = dashboardSettings(world);
  return newObject<Stripe.Tax.Settings>({
    object: 'tax.settings',
    defaults: {
      provider: 'stripe',
      tax_behavior: taxBehavior,
      tax_code: null,
    },
    ...(country && {
      head_office: { address: { ...noAddress, country } },
      status: 'active',
      status_details: { active: {} },
    }),
  });
}

const noAddress = {
  city: null,
  line1: null,
  line2: null,
  postal_code: null,
  state: null,
};

/** Stripe computes tax for an account that says where it is and whether its prices contain the tax. */
export function requireTax(world: World, prices: Price[]): void {
  const { taxBehavior, taxOrigin } = dashboardSettings(world);
  if (!taxOrigin)
    throw invalid(
      'You must have a valid head office address to enable automatic tax calculation in test mode.',
      undefined,
      'stripe_tax_inactive',
    );

  const unclear = prices.find(({ tax_behavior: own }) => own === 'unspecified');
  if (unclear && !taxBehavior)
    throw invalid(
      `The price \`${unclear.id}\` does not have a \`tax_behavior\` set which is required for automatic tax computation.`,
    );
}

export function listRegistrations(_: World, { params, path }: Call<PageParams>) {
  return pageOf([], params, path, {
    label: 'tax registration',
    all: () => [],
  });
}
