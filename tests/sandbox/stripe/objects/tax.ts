import type { Stripe } from 'stripe';
import type { Call } from '../api/call.ts';
import { pageWithin, type PageParams } from '../api/page.ts';
import { newId } from '../ids.ts';
import type { World } from '../types/world.ts';

type Address = Partial<Record<'city' | 'country' | 'line1' | 'line2' | 'postal_code' | 'state', string>>;
type TaxSettings = { taxBehavior: string | null; taxCode: string | null; address: Address | null };
type SettingsParams = {
  defaults?: { tax_behavior?: string; tax_code?: string };
  head_office?: { address: Address };
};
type RegistrationParams = { active_from: number | 'now'; country: string; country_options: object };
type Registration = Pick<
  Stripe.Tax.Registration,
  'id' | 'object' | 'active_from' | 'country' | 'created' | 'expires_at' | 'livemode' | 'status'
> & { country_options: object };

const nothing: TaxSettings = { taxBehavior: null, taxCode: null, address: null };
const settingsOf = ({ store }: World): TaxSettings => store.get<TaxSettings>('stripe/meta', 'tax') ?? nothing;

/** The status is pending until the merchant's address is set. */
export function retrieveTaxSettings(world: World) {
  const { taxBehavior, taxCode, address } = settingsOf(world);
  const empty = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };
  return {
    object: 'tax.settings',
    defaults: { provider: 'stripe', tax_behavior: taxBehavior, tax_code: taxCode },
    head_office: address && { address: { ...empty, ...address } },
    livemode: false,
    status: address ? 'active' : 'pending',
    status_details: address ? { active: {} } : { pending: { missing_fields: ['head_office'] } },
  } satisfies Stripe.Tax.Settings;
}

export function updateTaxSettings(world: World, { params }: Call<SettingsParams>) {
  const { taxBehavior, taxCode, address } = settingsOf(world);
  world.store.put('stripe/meta', 'tax', {
    taxBehavior: params.defaults?.tax_behavior ?? taxBehavior,
    taxCode: params.defaults?.tax_code ?? taxCode,
    address: params.head_office?.address ?? address,
  } satisfies TaxSettings);
  return retrieveTaxSettings(world);
}

const collection = 'stripe/tax_registrations';

export function createRegistration(world: World, { params }: Call<RegistrationParams>): Registration {
  const now = world.now();
  const from = params.active_from === 'now' ? now : params.active_from;
  const registration: Registration = {
    id: newId('taxreg_1'),
    object: 'tax.registration',
    active_from: from,
    country: params.country,
    country_options: params.country_options,
    created: now,
    expires_at: null,
    livemode: false,
    status: from <= now ? 'active' : 'scheduled',
  };
  world.store.put(collection, registration.id, registration);
  return registration;
}

export function listRegistrations(world: World, { params }: Call<PageParams & { status?: string }>) {
  const all = world.store.list<Registration>(collection).toReversed();
  const wanted = params.status && params.status !== 'all' ? all.filter(({ status }) => status === params.status) : all;
  return pageWithin(wanted, params, '/v1/tax/registrations', 'tax registration');
}
