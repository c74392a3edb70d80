import { eq, inArray, sql } from 'drizzle-orm';
import { trialLinks, usedTrials } from '#db/schema';
import { keyedHashes } from '../lib/crypto.ts';
import type { ExportSection } from '../accounts/user.ts';

export const exportTrials: ExportSection = async ({ user: { id, phone }, db, settings }) => {
  const phoneMacs = await keyedHashes(settings.CODE_PEPPER, 'phone', phone);
  const { tier, days, expiresAt } = trialLinks;
  const used = sql<boolean>`${trialLinks.usedBy} is not null`.mapWith(Boolean);
  const [links, trials] = await db.batch([
    db.select({ tier, days, expiresAt, used }).from(trialLinks).where(eq(trialLinks.userId, id)),
    db.select({ at: usedTrials.at }).from(usedTrials).where(inArray(usedTrials.phoneMac, phoneMacs)),
  ]);
  return { trialLinks: links, usedTrials: trials };
};
