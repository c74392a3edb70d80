import { eq, type SQL } from 'drizzle-orm';
import { customers, users, type User } from '#db/schema';
import type { Database } from '../lib/database.ts';

export type Customer = typeof customers.$inferSelect;
/** A leased customer, which only the lease's holder updates, and its user. */
export type LeasedCustomer = { token: string; customer: Customer; user: User };
/** Columns that change when a lease is acquired or released. */
export type Changes = { [Column in keyof Customer]?: Customer[Column] | SQL };

/** The customers that satisfy a condition, with their users. */
export function customersWhere(db: Database, which: SQL) {
  const columns = { customer: customers, user: users };
  return db.select(columns).from(customers).innerJoin(users, eq(users.id, customers.userId)).where(which);
}
