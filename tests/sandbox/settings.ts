/** The secrets that the Worker and the local services share, under the names of `.dev.vars`. */
export type SandboxSecrets = {
  TURSO_AUTH_TOKEN: string;
  WHATSAPP_PHONE_NUMBER_ID: string;
  WHATSAPP_TOKEN: string;
  WHATSAPP_TEMPLATE_NAME: string;
  WHATSAPP_TEMPLATE_LANGUAGE: string;
  /** Without it WhatsApp sends no delivery reports. */
  WHATSAPP_APP_SECRET?: string;
  BOT_WEBHOOK_SECRET: string;
  EXTERNAL_TOKEN_ISSUER: string;
  EXTERNAL_TOKEN_AUDIENCE: string;
  STRIPE_SECRET_KEY: string;
  STRIPE_WEBHOOK_SECRET: string;
};

export type SandboxSettings = {
  /** 0 selects a free port. */
  port: number;
  /** Used by the sandbox alone; `reset` removes it. */
  stateDir: string;
  /** The Worker's address for calls of the bot and Stripe. */
  siteUrl: string;
  secrets: SandboxSecrets;
  reset?: boolean;
};
