/** The secrets that the Worker and the local services share, under the names of `.dev.vars`. */
export type SandboxSecrets = {
  TURSO_AUTH_TOKEN: string;
  WHATSAPP_PHONE_NUMBER_ID: string;
  WHATSAPP_TOKEN: string;
  WHATSAPP_TEMPLATE_NAME: string;
  WHATSAPP_TEMPLATE_LANGUAGE: string;
  /** Without it WhatsApp reports nothing about its messages. */
  WHATSAPP_APP_SECRET?: string;
  BOT_WEBHOOK_SECRET: string;
  EXTERNAL_TOKEN_ISSUER: string;
  EXTERNAL_TOKEN_AUDIENCE: string;
  STRIPE_SECRET_KEY: string;
  STRIPE_WEBHOOK_SECRET: string;
};

export type SandboxSettings = {
  /** 0 takes a free one. */
  port: number;
  /** Belongs to the sandbox alone: `reset` removes it. */
  stateDir: string;
  /** Where the Worker answers, for the bot's and Stripe's calls. */
  siteUrl: string;
  secrets: SandboxSecrets;
  reset?: boolean;
};
