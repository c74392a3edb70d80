import type { Answer, Site } from '../site.ts';
import type { Message } from './conversation.ts';

const perPage = 50;

/** The whole conversation, oldest first, with the revision of its newest page; null when a call failed. */
export async function readPage(site: Site, token: string): Promise<{ revision: number; messages: Message[] } | null> {
  const newest = await page(site, token, '');
  if (newest.status !== 200) return null;
  const messages: Message[] = newest.body.messages;
  let { hasMore } = newest.body;
  while (hasMore) {
    const older = await page(site, token, `&before=${messages[0]!.seq}`);
    if (older.status !== 200) return null;
    messages.unshift(...older.body.messages);
    ({ hasMore } = older.body);
  }
  return { revision: newest.body.revision, messages };
}

function page(site: Site, token: string, before: string): Promise<Answer> {
  return site.call('chat page', 'GET', `/api/user/chat?limit=${perPage}${before}`, { token });
}
