import { canonicalPhone } from '../auth/canonical-phone.ts';
import { keyedHash } from '../auth/keyed-hash.ts';
import { Newest } from '../newest.ts';
import { oncePer } from '../once-per.ts';
import type { Settings } from '../settings.ts';

/** The bot and a sign-in name the same number again and again. */
const tagsKept = 1000;

const tagsOf = oncePer<Settings, Newest<string, string>>(() => new Newest(tagsKept));

/** What stands for a number in the log, 8 hex digits: the same for the same number, and nobody can go back from it. */
export async function phoneTag(settings: Settings, phone: string): Promise<string> {
  const tags = tagsOf(settings);
  const known = tags.get(phone);
  if (known) return known;
  const mac = await keyedHash(settings.CODE_PEPPER[0]!, 'log', canonicalPhone(phone));
  const tag = mac.slice(0, 8);
  tags.set(phone, tag);
  return tag;
}
