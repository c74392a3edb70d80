import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Resolves when every address responds 200; rejects after three minutes, or at once when `ended` tells why it never
 * will.
 */
export async function waitUntilReady(urls: string[], ended: Promise<string>): Promise<void> {
  let reason: string | undefined;
  void ended.then((why) => (reason = why));
  const deadline = Date.now() + 180_000;
  for (const url of urls) {
    while (!(await answers(url))) {
      if (reason !== undefined) throw new Error(reason);
      if (Date.now() > deadline) throw new Error(`${url} did not answer 200 within three minutes.`);
      await sleep(100);
    }
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
