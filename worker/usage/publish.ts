import type { Env } from '../env.ts';
import type { FeedMessage } from './feed.ts';

/** Tells the open streams of a user; tried again once, since an object that is moved refuses the call under way. */
export async function publish(env: Env, userId: string, ...messages: FeedMessage[]): Promise<void> {
  const feed = () => env.USAGE_FEED.getByName(userId);
  try {
    await feed().publish(messages);
  } catch {
    await feed().publish(messages);
  }
}
