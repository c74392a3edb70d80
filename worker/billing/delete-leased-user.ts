import { sql } from 'drizzle-orm';
import { customers } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { deleteUserRows } from '../accounts/delete-user.ts';
import type { LeasedCustomer } from './lease.ts';

/**
 * Deletes the rows of the user whose customer is leased. If the lease was lost, it deletes nothing and throws 503,
 * since the next holder may have opened a checkout.
 */
export async function deleteLeasedUser(
  db: Database,
  settings: Settings,
  { token }: LeasedCustomer,
  now: number,
): Promise<void> {
  const userId = sql`(select ${customers.userId} from ${customers} where ${customers.leaseToken} = ${token})`;
  const [first, ...rest] = deleteUserRows(userId, settings, now).map((statement) => db.run(statement));
  const results = await db.batch([first!, ...rest]);
  if (results.at(-1)?.rowsAffected === 0) throw new RequestError('unavailable', { retryAfter: 1 });
}
