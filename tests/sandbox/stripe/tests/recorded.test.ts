import { expect, test } from 'vitest';
import { draftHour, newPerson, phone, requestOf, week } from './local-stripe.ts';

const save = (card: string) => `POST payment_methods/pm_card_${card}/attach customer={customer}`;
const order = 'POST subscriptions items[0][price]={basic}&expand[]=latest_invoice&customer';
const buy = `${order}={customer}&default_payment_method={id}`;
const trial = `${order}={customer}&default_payment_method={visa}&trial_period_days=14`;
const change = 'items[0][id]={item}&items[0][price]={premium}&proration_behavior=always_invoice';
const price = 'POST prices currency=usd&unit_amount=1&recurring[interval]=week';
const upgrade = `POST subscriptions/{plan} ${change}&expand[]=latest_invoice`;
const paused = (behavior: string) =>
  `POST subscriptions/{plan} pause_collection[behavior]=${behavior}`;
const schedule = 'POST subscription_schedules from_subscription={plan}';
const checkout = 'POST checkout/sessions customer={customer}&success_url=http://site.test';
const portal = 'billing_portal/configurations/{configuration}';
const offer = 'features[subscription_update][products][0]';
const taxed = 'automatic_tax[enabled]=true';
const inTax = (settings: object) => `PUT /stripe/dashboard ${JSON.stringify(settings)}`;
const taxes = inTax({ taxOrigin: 'US', taxBehavior: 'exclusive' });
const asking = 'customer_update[address]=auto';
const sell = `${checkout}&mode=subscription&line_items[0][price]={basic}`;
const unpaid = `POST customers; ${order}={id}&trial_period_days=5&trial_settings[end_behavior][missing_payment_method]`;
const charges = 'GET charges customer={customer}';
const credit = 'POST credit_notes invoice={invoice}&amount';
const pass = (advanceSeconds: number) => `POST /stripe/clock ${JSON.stringify({ advanceSeconds })}`;
const flow =
  'customer={customer}&flow_data[type]=subscription_update&flow_data[subscription_update][subscription]';

/**
 * What the real Stripe responds, by recordings and its documentation. A fact has a name, requests, and the last one's
 * status and fields: `~` for a field that contains the text, `-` for one that is absent. Braces name a value of
 * `newPayer` or of an earlier response.
 */
const facts = `
an unknown customer is missing: GET customers/cus_0 => 404 code=resource_missing param=id
an unknown customer has no cards: GET customers/cus_0/payment_methods => 404 code=resource_missing param=id
an unknown customer buys no plan: ${order}=cus_0 => 404 code=resource_missing param=customer
an unknown price is not sold: POST subscriptions customer={customer}&items[0][price]=price_0
  => 400 code=resource_missing param=items[0][price]
an unknown price has no checkout: ${checkout}&mode=subscription&line_items[0][price]=price_0
  => 400 code=resource_missing param=line_items[0][price]
an unknown charge is not refunded: POST refunds charge=ch_0 => 404 code=resource_missing param=id
an unknown payment is not refunded: POST refunds payment_intent=pi_0 => 400 code=resource_missing param=payment_intent
an unknown customer has no invoices: GET invoices customer=cus_0 => 400 code=resource_missing param=customer
an unknown customer gets no invoice: POST invoices customer=cus_0 => 400 code=resource_missing param=customer
an unknown plan has no invoices: GET invoices subscription=sub_0 => 400 code=resource_missing param=subscription
an unknown invoice is missing: GET invoices/in_0 => 404 code=resource_missing param=invoice
an unknown invoice is not paid: POST invoices/in_0/pay => 404 code=resource_missing param=id
an unknown dispute is missing: GET disputes/du_0 => 404 code=resource_missing param=dispute
an unknown price is missing: GET prices/price_0 => 404 code=resource_missing param=price
an unknown setup is not confirmed: POST setup_intents/seti_0/confirm => 404 code=resource_missing param=intent
an unknown card is not saved: POST payment_methods/pm_0/attach customer={customer}
  => 404 code=resource_missing param=payment_method
an unknown parameter is refused: POST customers invoice_settings[x]=1
  => 400 code=parameter_unknown param=invoice_settings[x]
an amount does not change: POST prices/{basic} unit_amount=5 => 400 code=parameter_unknown
an e-mail address is checked: POST customers email=nowhere => 400 code=email_invalid param=email
a key of metadata has 40 letters: POST customers metadata[${'k'.repeat(41)}]=1 => 400 param=metadata
a limit is an integer: GET customers limit=abc => 400 code=parameter_invalid_integer param=limit
a quantity is an integer: ${order}={customer}&items[0][quantity]=many => 400 param=items[0][quantity]
an amount is whole: ${credit}=10.5&refund_amount=10.5 => 400 code=parameter_invalid_integer param=amount
no part of a credit is negative: ${credit}=1&refund_amount=2&credit_amount=-1
  => 400 code=parameter_invalid_integer param=credit_amount
a checkout returns to an address: POST checkout/sessions customer={customer}&mode=setup&currency=usd&success_url=/paid
  => 400 code=url_invalid param=success_url
a page begins after a known object: GET customers starting_after=cus_0 => 400 code=resource_missing param=starting_after
a search names its metadata: GET customers/search query=colour:"red" => 400 param=query
a price needs a known product: ${price}&product=prod_0 => 400 code=resource_missing param=product
a price needs its interval: ${price}&product={product}&recurring[interval]= => 400 param=recurring[interval]
a lookup key belongs to one price: POST prices/{basic} lookup_key=premium_weekly
  => 400 code=resource_already_exists param=lookup_key
a product needs a name: POST products => 400 code=parameter_missing param=name
a checkout has a language of Stripe: ${checkout}&mode=setup&currency=usd&locale=es-MX => 400 param=locale
a portal has a language of Stripe: POST billing_portal/sessions customer={customer}&locale=hi-IN => 400 param=locale
an endpoint has a URL: POST webhook_endpoints url=nowhere&enabled_events[]=* => 400 code=url_invalid param=url
an unknown status is not listed: GET invoices status=x
  => 400 message=Invalid status: must be one of draft, open, paid, uncollectible, or void
an unknown field is not expanded: POST customers name=x&expand[]=nonsense => 400 message~doesn't exist: nonsense
a list is expanded in its data: GET subscriptions expand[]=customer => 400 message~'data.customer' instead
an expansion has four levels: GET customers expand[]=a.b.c.d.e => 400 code=property_expansion_max_depth
those of a list count, too: GET invoices expand[]=data.payments.data.payment.payment_intent
  => 400 code=property_expansion_max_depth
another customer's card is not saved: POST customers; POST payment_methods/{visa}/attach customer={id}
  => 400 code=- param=-
another customer's card pays no plan: POST customers payment_method=pm_card_visa; GET customers/{id}/payment_methods;
  ${order}={customer}&default_payment_method={data.0.id} => 400 code=resource_missing param=default_payment_method
another customer's card is no default: POST customers payment_method=pm_card_visa; GET customers/{id}/payment_methods;
  POST customers/{customer} invoice_settings[default_payment_method]={data.0.id}
  => 400 param=invoice_settings[default_payment_method]
a card is detached once: POST payment_methods/{visa}/detach; POST payment_methods/{visa}/detach
  => 400 message~not attached to a customer
a detached card is not saved again: POST payment_methods/{visa}/detach; POST customers;
  POST payment_methods/{visa}/attach customer={id} => 400 message~may not be used again
a declined card is not saved: ${save('visa_chargeDeclined')}
  => 402 code=card_declined decline_code=generic_decline
an expired card makes no customer: POST customers payment_method=pm_card_chargeDeclinedExpiredCard
  => 402 code=expired_card param=exp_month
a deleted customer is marked: DELETE customers/{customer}; GET customers/{customer}
  => 200 deleted=true email=- metadata=-
a first payment waits for 3-D Secure: ${save('authenticationRequired')}; ${buy}
  => 200 status=incomplete latest_invoice.status=open latest_invoice.attempted=true latest_invoice.attempt_count=0
voiding the first invoice ends the plan: ${save('chargeCustomerFail')}; ${buy};
  POST invoices/{latest_invoice.id}/void; GET subscriptions customer={customer}&status=incomplete_expired
  => 200 data.length=1
paying the first invoice begins the plan: ${save('chargeCustomerFail')}; ${buy};
  POST invoices/{latest_invoice.id}/pay payment_method={visa}; GET subscriptions customer={customer}&status=active
  => 200 data.length=2
an upgrade that fails stays: ${save('chargeCustomerFail')}; ${upgrade}&default_payment_method={id}
  => 200 status=past_due items.data.0.price.unit_amount=2999 latest_invoice.status=open latest_invoice.attempted=true
an ended plan does not change: DELETE subscriptions/{plan}; POST subscriptions/{plan} description=late
  => 400 code=invalid_canceled_subscription_fields param=-
a plan is canceled at its end: POST subscriptions/{plan} cancel_at_period_end=true
  => 200 status=active cancel_at={end} ended_at=null cancellation_details.reason=cancellation_requested
a pause of the collection leaves the plan active: ${paused('void')}&pause_collection[resumes_at]=4102444800
  => 200 status=active pause_collection.behavior=void pause_collection.resumes_at=4102444800
a pause of the collection ends in the future: ${paused('void')}&pause_collection[resumes_at]=1
  => 400 param=pause_collection[resumes_at]
a pause says what becomes of the invoices: POST subscriptions/{plan} pause_collection[resumes_at]=4102444800
  => 400 param=pause_collection[behavior]
a pause voids the renewals: ${paused('void')}; ${pass(week)}; GET subscriptions/{plan} expand[]=latest_invoice
  => 200 status=active latest_invoice.status=void latest_invoice.billing_reason=subscription_cycle
a pause gives the renewals up: ${paused('mark_uncollectible')}; ${pass(week)};
  GET subscriptions/{plan} expand[]=latest_invoice => 200 status=active latest_invoice.status=uncollectible
a pause keeps the renewals as drafts: ${paused('keep_as_draft')}; ${pass(week + 2 * draftHour)};
  GET subscriptions/{plan} expand[]=latest_invoice
  => 200 status=active latest_invoice.status=draft latest_invoice.auto_advance=false
a pause ends by the clock: ${paused('void')}&pause_collection[resumes_at]={end}; ${pass(week + 2 * draftHour)};
  GET subscriptions/{plan} expand[]=latest_invoice
  => 200 status=active pause_collection=null latest_invoice.status=paid
a pause is taken back: ${paused('void')}; POST subscriptions/{plan} pause_collection=
  => 200 status=active pause_collection=null
canceling now replaces the planned end: POST subscriptions/{plan} cancel_at_period_end=true;
  ${pass(60)}; DELETE subscriptions/{plan}
  => 200 status=canceled cancel_at=null cancel_at_period_end=false canceled_at={canceled_at}
a trial has a paid invoice of nothing: ${trial}; GET invoices/{latest_invoice.id}
  => 200 status=paid total=0 attempt_count=0 attempted=true lines.data.0.amount=0 lines.data.0.period.end={trial_end}
a trial without a card may end with its plan: ${unpaid}=cancel; ${pass(week)}; GET subscriptions/{id}
  => 200 status=canceled
a trial without a card may pause its plan: ${unpaid}=pause; ${pass(week)}; GET subscriptions/{id} => 200 status=paused
a trial without a card may end unpaid: ${unpaid}=create_invoice; ${pass(week)}; GET subscriptions/{id}
  => 200 status=past_due
a trial that ends now is paid: ${trial}; POST subscriptions/{id} trial_end=now&expand[]=latest_invoice
  => 200 status=active latest_invoice.status=paid latest_invoice.total=1199
a trial without a card does not end now: POST customers; ${order}={id}&trial_period_days=14;
  POST subscriptions/{id} trial_end=now => 400 message~payment
a schedule prevents a cancellation: ${schedule}; POST subscriptions/{plan} cancel_at_period_end=true
  => 400 message~schedule
a released schedule frees the plan: ${schedule}; POST subscription_schedules/{id}/release; GET subscriptions/{plan}
  => 200 status=active schedule=null cancel_at=null
a canceled schedule ends the plan: ${schedule}; POST subscription_schedules/{id}/cancel; GET subscriptions/{plan}
  => 200 status=canceled
a paid invoice is not voided: POST invoices/{invoice}/void => 400 code=- param=-
a portal that changes plans changes cards: POST ${portal} features[payment_method_update][enabled]=false
  => 400 message~payment
a portal has one price of an interval: ${price}&product={product};
  POST ${portal} ${offer}[product]={product}&${offer}[prices][]={basic}&${offer}[prices][]={id}
  => 400 message~interval
a portal does not change an ended plan: DELETE subscriptions/{plan}; POST billing_portal/sessions ${flow}={plan}
  => 400 message~canceled
a refund is a cent at least: ${charges}; POST refunds charge={data.0.id}&amount=0 => 400 param=amount
a refund is at most the rest: ${charges}; POST refunds charge={data.0.id}&amount=199;
  POST refunds charge={data.0.id}&amount=1001 => 400 param=amount
a payment is refunded once: ${charges}; POST refunds charge={data.0.id}&amount=199; POST refunds charge={data.0.id};
  POST refunds charge={data.0.id} => 400 code=charge_already_refunded
a refund to a card that answers late is pending: ${save('pendingRefund')}; ${buy};
  GET charges customer={customer}&limit=1; POST refunds charge={data.0.id} => 200 status=pending
a refund may come back: ${save('refundFail')}; ${buy}; GET charges customer={customer}&limit=1;
  POST refunds charge={data.0.id}; ${pass(week)}; GET refunds limit=1
  => 200 data.0.status=failed data.0.failure_reason=expired_or_canceled_card
a refund that came back can be made again: ${save('refundFail')}; ${buy}; GET charges customer={customer}&limit=1;
  POST refunds charge={data.0.id}; ${pass(week)}; GET charges customer={customer}&limit=1
  => 200 data.0.refunded=false data.0.amount_refunded=0
a refund that has succeeded is not canceled: ${charges}; POST refunds charge={data.0.id}; POST refunds/{id}/cancel
  => 400 message~require action
a credit note gives money back: ${credit}=771&refund_amount=771
  => 200 status=issued type=post_payment total=771 refunds.0.amount_refunded=771 post_payment_amount=771
a credit note is counted by its invoice: ${credit}=771&refund_amount=771; GET invoices/{invoice}
  => 200 status=paid post_payment_credit_notes_amount=771 amount_paid=1199
a credit note gives back what is paid at most: ${credit}=1200&refund_amount=1200 => 400 param=amount
credit notes give back an invoice once: ${credit}=1199&refund_amount=1199; ${credit}=1&refund_amount=1 => 400 param=amount
the parts of a credit note are its amount: ${credit}=771&refund_amount=770 => 400 param=-
a credit note refunds what a refund left: ${charges}; POST refunds charge={data.0.id}&amount=1199;
  ${credit}=1199&refund_amount=1199 => 400 code=charge_already_refunded
a credit note credits the balance: ${credit}=199&credit_amount=199; GET customers/{customer} => 200 balance=-199
a credit note of a paid invoice is not voided: ${credit}=1&refund_amount=1; POST credit_notes/{id}/void => 400 param=-
an unknown invoice has no credit note: POST credit_notes invoice=in_0&amount=1 => 400 code=resource_missing param=invoice
a disputed payment is not refunded: ${charges}; POST /stripe/customers/${phone}/dispute;
  POST refunds charge={data.0.id} => 400 code=charge_disputed
a checkout offers what the account has switched on: ${sell} => 200 payment_method_types=card,link,us_bank_account
a checkout offers the methods that it names: ${sell}&allowed_payment_method_types[]=card => 200 payment_method_types=card
a method that is switched off is not offered: POST payment_method_configurations/pmc_1LocalStripeDefault0000
  us_bank_account[display_preference][preference]=off; ${sell} => 200 payment_method_types=card,link
a taxed checkout needs an address: ${sell}&${taxed} => 400 code=customer_tax_location_invalid
tax needs the address of the merchant: ${sell}&${taxed}&${asking} => 400 code=stripe_tax_inactive
tax is part of a price or not: ${inTax({ taxOrigin: 'US' })}; ${sell}&${taxed}&${asking} => 400 message~tax_behavior
a plan says that as well: ${inTax({ taxOrigin: 'US' })}; POST customers/{customer} address[country]=US;
  ${order}={customer}&default_payment_method={visa}&${taxed} => 400 message~tax_behavior
a taxed checkout may ask for the address: ${taxes}; ${sell}&${taxed}&${asking} => 200 automatic_tax.enabled=true
a taxed checkout uses the known address: ${taxes}; POST customers/{customer} address[country]=US; ${sell}&${taxed}
  => 200 automatic_tax.enabled=true
a taxed plan needs an address: ${taxes}; ${order}={customer}&${taxed} => 400 code=customer_tax_location_invalid
a taxed plan uses the known address: ${taxes}; POST customers/{customer} address[country]=US;
  ${order}={customer}&default_payment_method={visa}&${taxed} => 200 automatic_tax.enabled=true
a plan that ends in the draft hour is not charged again: ${pass(week + 60)}; DELETE subscriptions/{plan};
  ${pass(2 * draftHour)}; GET invoices customer={customer}
  => 200 data.0.status=draft data.0.auto_advance=false data.0.automatically_finalizes_at=null
the lines of a change are rounded separately: ${pass(week / 3)}; ${upgrade}
  => 200 latest_invoice.lines.data.0.amount=-799 latest_invoice.lines.data.1.amount=1999 latest_invoice.total=1200
less than 50 cents is not charged: ${pass(week - 600)}; ${upgrade}
  => 200 latest_invoice.status=paid latest_invoice.amount_due=0 latest_invoice.attempt_count=0
  latest_invoice.total=2 latest_invoice.ending_balance=2
less than 50 cents is added to the balance: ${pass(week - 600)}; ${upgrade}; GET customers/{customer} => 200 balance=2
ids become objects along the paths of expand: GET subscriptions/{plan}
  expand[]=latest_invoice.payments&expand[]=customer&expand[]=items.data.price.product
  => 200 latest_invoice.payments.data.0.payment.payment_intent~pi_ customer.id={customer}
  items.data.0.price.product.name=basic
a dispute has no customer: ${save('createDispute')}; ${buy}; GET disputes
  => 200 data.0.status=needs_response data.0.amount=1199 data.0.charge~ch_ data.0.customer=-
`;

/** A customer with a card and a weekly plan. */
async function newPayer() {
  const me = await newPerson();
  const {
    id: plan,
    latest_invoice: invoice,
    items,
    default_payment_method: visa,
  } = await me.subscribe('basic');
  const { id: item, current_period_end: end, price } = items.data[0]!;
  const { customer, catalogue } = me;
  const known = {
    ...catalogue,
    ...catalogue.prices,
    customer,
    end,
    invoice,
    item,
    plan,
    product: price.product,
    visa,
  };
  return { request: requestOf(me), known };
}

function textOf(body: any, path: string): string {
  const value = path.split('.').reduce((inner, name) => inner?.[name], body);
  return value === undefined ? '-' : String(value);
}

const rows = facts.trim().split(/\n(?! )/);
test.each(rows.map((row) => row.split(/(?<=^[^:]+): |\s+=> /)))(
  '%s',
  async (_, requests = '', expected = '') => {
    const { request, known } = await newPayer();
    const fill = (text: string) =>
      text.replaceAll(/\{([\w.]+)\}/g, (_match, path: string) => textOf(known, path));
    let [status, body]: [number, any] = [200, {}];
    for (const each of requests.split(/;\s+/)) {
      expect(status, JSON.stringify(body)).toBe(200);
      Object.assign(known, body);
      const [method = '', path = '', form] = fill(each).split(/\s+/);
      ({ status, json: body } = await request(
        method,
        path.startsWith('/') ? path : `/v1/${path}`,
        form,
      ));
    }
    const [wantedStatus, ...fields] = fill(expected).split(/\s+(?=[\w.]+[=~])/);
    const shown = fields.map((field) => {
      const [, path = '', text = ''] = /^([\w.]+)[=~](.*)$/.exec(field) ?? [];
      const value = textOf(body.error ?? body, path);
      return field.includes('~') && value.includes(text) ? field : `${path}=${value}`;
    });
    if (body.error)
      expect(body.error.type).toBe(status === 402 ? 'card_error' : 'invalid_request_error');
    expect([String(status), ...shown]).toEqual([wantedStatus, ...fields]);
  },
);
