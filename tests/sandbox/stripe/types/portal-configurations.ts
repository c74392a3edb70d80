import type { Metadata } from './metadata.ts';
import type { Features } from './portal-features.ts';

export type PortalConfiguration = {
  id: string;
  object: 'billing_portal.configuration';
  active: boolean;
  application: null;
  business_profile: { headline: string | null; privacy_policy_url: string | null; terms_of_service_url: string | null };
  created: number;
  default_return_url: string | null;
  features: Features;
  is_default: boolean;
  livemode: false;
  login_page: { enabled: boolean; url: string | null };
  metadata: Metadata;
  name: string | null;
  updated: number;
};
