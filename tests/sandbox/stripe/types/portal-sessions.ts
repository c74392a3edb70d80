export type PortalFlow = {
  type: string;
  after_completion: {
    type: string;
    redirect: { return_url: string } | null;
    hosted_confirmation: { custom_message: string | null } | null;
  };
  customer_update: null;
  subscription_cancel: { subscription: string; retention: null } | null;
  subscription_pause: null;
  subscription_update: { subscription: string } | null;
  subscription_update_confirm: {
    subscription: string;
    items: { id: string; price: string; quantity: number }[];
    discounts: null;
  } | null;
};

export type PortalSession = {
  id: string;
  object: 'billing_portal.session';
  configuration: string;
  created: number;
  customer: string;
  flow: PortalFlow | null;
  locale: string | null;
  return_url: string | null;
  url: string;
};
