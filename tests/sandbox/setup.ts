import type { Phones } from './phones.ts';
import type { Store } from './store.ts';

/** The secrets that the Worker and the local services share, under the names of `.dev.vars`. */
export type SandboxSecrets = Record<
  | 'TURSO_AUTH_TOKEN'
  | 'WHATSAPP_PHONE_NUMBER_ID'
  | 'WHATSAPP_TOKEN'
  | 'WHATSAPP_TEMPLATE_NAME'
  | 'WHATSAPP_TEMPLATE_LANGUAGE'
  | 'BOT_WEBHOOK_SECRET'
  | 'EXTERNAL_TOKEN_ISSUER'
  | 'EXTERNAL_TOKEN_AUDIENCE'
  | 'STRIPE_SECRET_KEY'
  | 'STRIPE_WEBHOOK_SECRET',
  string
>;

export type SandboxSettings = {
  /** 0 selects a free port. */
  port: number;
  /** Used by the sandbox alone. */
  stateDir: string;
  /** The Worker's address for calls of the bot and Stripe. */
  siteUrl: string;
  secrets: SandboxSecrets;
};

/** What the local services share. */
export type Setup = Pick<SandboxSettings, 'siteUrl' | 'secrets'> & { sandboxUrl: string; store: Store; phones: Phones };
