import type { Stripe } from 'stripe';
import type { Call } from '../api/call.ts';
import { pageWithin, type PageParams } from '../api/page.ts';
import type { World } from '../types/world.ts';

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

export function listRegistrations(_: World, { params }: Call<PageParams>) {
  return pageWithin([], params, '/v1/tax/registrations', 'tax registration');
}
