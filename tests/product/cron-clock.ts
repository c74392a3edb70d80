const minute = '* * * * *';
const hour = '0 * * * *';

/** Rings the Worker's crons, as Cloudflare does and `wrangler dev` does not. Answers how to stop it. */
export function startCronClock(siteUrl: string): () => Promise<void> {
  const timers = [
    setInterval(() => void runMinuteCron(siteUrl), 60_000),
    setInterval(() => void runCron(siteUrl, hour), 3_600_000),
  ];
  return async () => timers.forEach((timer) => clearInterval(timer));
}

/** Rings the minute's cron now; resolves when its chores are done, or the Worker does not answer. */
export function runMinuteCron(siteUrl: string): Promise<void> {
  return runCron(siteUrl, minute);
}

async function runCron(siteUrl: string, cron: string): Promise<void> {
  const response = await fetch(`${siteUrl}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`).catch(() => null);
  await response?.body?.cancel().catch(() => undefined);
}
