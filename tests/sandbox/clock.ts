/** Rings the Worker's cron every minute, as Cloudflare does and `wrangler dev` does not. Answers how to stop it. */
export function startClock(siteUrl: string): () => Promise<void> {
  const timer = setInterval(() => {
    fetch(`${siteUrl}/cdn-cgi/local/scheduled`).catch(() => undefined);
  }, 60_000);
  return async () => clearInterval(timer);
}
