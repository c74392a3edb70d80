const minute = '* * * * *';
const hour = '0 * * * *';

/** Rings the Worker's crons, as Cloudflare does and `wrangler dev` does not. Answers how to stop it. */
export function startClock(siteUrl: string): () => Promise<void> {
  const ring = (cron: string) => {
    fetch(`${siteUrl}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`).catch(() => undefined);
  };
  const timers = [setInterval(() => ring(minute), 60_000), setInterval(() => ring(hour), 3_600_000)];
  return async () => timers.forEach((timer) => clearInterval(timer));
}
