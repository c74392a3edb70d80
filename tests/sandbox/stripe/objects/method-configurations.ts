import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { pageWithin, type PageParams } from '../api/page.ts';
import { notFound } from '../errors.ts';
import type { World } from '../types/world.ts';

const id = 'pmc_1LocalStripeDefault0000';
const label = 'payment method configuration';
const names = ['card', 'link', 'us_bank_account', 'sepa_debit'] as const;

type MethodName = (typeof names)[number];
type Preference = 'on' | 'off';
type Preferences = Record<MethodName, Preference>;
type Params = Partial<Record<MethodName, { display_preference?: { preference?: Preference | 'none' } }>>;

/** As in a new account, the American bank debit is on, which settles days later, and the European one is off. */
const newAccount: Preferences = { card: 'on', link: 'on', us_bank_account: 'on', sepa_debit: 'off' };

function preferences({ store }: World): Preferences {
  return { ...newAccount, ...store.get<Partial<Preferences>>('stripe/meta', 'methods') };
}

/** The id of the only configuration, and the payment methods that it has switched on. */
export function methodConfiguration(world: World): { id: string; switchedOn: MethodName[] } {
  const chosen = preferences(world);
  return { id, switchedOn: names.filter((name) => chosen[name] === 'on') };
}

function present(world: World) {
  const chosen = preferences(world);
  const method = (name: MethodName) => ({
    available: chosen[name] === 'on',
    display_preference: { overridable: null, preference: chosen[name], value: chosen[name] },
  });
  return {
    id,
    object: 'payment_method_configuration',
    active: true,
    application: null,
    is_default: true,
    livemode: false,
    name: 'Default',
    parent: null,
    card: method('card'),
    link: method('link'),
    sepa_debit: method('sepa_debit'),
    us_bank_account: method('us_bank_account'),
  } satisfies Stripe.PaymentMethodConfiguration;
}

export function listMethodConfigurations(world: World, { params }: Call<PageParams>) {
  return pageWithin([present(world)], params, '/v1/payment_method_configurations', label);
}

/** `none` restores Stripe's default for a method. */
export function updateMethodConfiguration(world: World, call: Call<Params>) {
  if (idOf(call) !== id) throw notFound(label, idOf(call), 'configuration');
  const chosen = names.flatMap((name) => {
    const preference = call.params[name]?.display_preference?.preference;
    return preference ? [[name, preference === 'none' ? newAccount[name] : preference]] : [];
  });
  world.store.put('stripe/meta', 'methods', { ...preferences(world), ...Object.fromEntries(chosen) });
  return present(world);
}
