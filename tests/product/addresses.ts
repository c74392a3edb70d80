/** The addresses of the site and the local services, under the names of `.dev.vars`. */
export function addresses(sitePort: number, sandboxPort: number): Record<string, string> {
  const sandbox = `http://127.0.0.1:${sandboxPort}`;
  return {
    SITE_URL: `http://localhost:${sitePort}`,
    TURSO_DATABASE_URL: `${sandbox}/libsql/`,
    WHATSAPP_API_BASE: `${sandbox}/whatsapp`,
    BOT_WEBHOOK_URL: `${sandbox}/bot/webhook`,
    EXTERNAL_TOKEN_ISSUER: `${sandbox}/issuer`,
    EXTERNAL_TOKEN_JWKS_URL: `${sandbox}/issuer/jwks.json`,
    STRIPE_API_BASE: sandbox,
  };
}
