const minute = '* * * * *';
const hour = '0 * * * *';

/** Rings the Worker's crons, as Cloudflare does and `wrangler dev` does not. Answers how to stop it. */
export function startClock(siteUrl: string): () => Promise<void> {
  const timers = [
    setInterval(() => void ringMinute(siteUrl), 60_000),
    setInterval(() => void ring(siteUrl, hour), 3_600_000),
  ];
  return async () => timers.forEach((timer) => clearInterval(timer));
}

/** Rings the minute's cron now; resolves when its chores are done, or the Worker does not answer. */
export function ringMinute(siteUrl: string): Promise<void> {
  return ring(siteUrl, minute);
}

async function ring(siteUrl: string, cron: string): Promise<void> {
  const response = await fetch(`${siteUrl}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`).catch(() => null);
  await response?.body?.cancel().catch(() => undefined);
}
