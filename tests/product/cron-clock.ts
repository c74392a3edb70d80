const minute = '* * * * *';
const hour = '0 * * * *';

/** Runs the Worker's cron triggers, which `wrangler dev` does not. Returns a function that stops it. */
export function startCronClock(siteUrl: string): () => Promise<void> {
  const timers = [
    setInterval(() => void runMinuteCron(siteUrl), 60_000),
    setInterval(() => void runCron(siteUrl, hour), 3_600_000),
  ];
  return async () => timers.forEach((timer) => clearInterval(timer));
}

/** Runs the minute's cron trigger now; resolves when its tasks are done, or the Worker does not respond. */
export function runMinuteCron(siteUrl: string): Promise<void> {
  return runCron(siteUrl, minute);
}

async function runCron(siteUrl: string, cron: string): Promise<void> {
  const response = await fetch(`${siteUrl}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`).catch(() => null);
  await response?.body?.cancel().catch(() => undefined);
}
