import type { Stripe } from 'stripe';
import type { Call } from '../api/call.ts';
import { invalid } from '../errors.ts';
import { searchableOf } from './search-index.ts';
import type { Customer, Searchable } from '../types/customers.ts';
import type { World } from '../types/world.ts';

type Clause = { field: string; key: string | undefined; operator: string; value: string | null; isNegated: boolean };

const clausePattern =
  /^(-?)(created|email|metadata|name|phone)(?:\[["']([^"']+)["']\])?(:|~|<=|>=|<|>)(?:"([^"]*)"|'([^']*)'|(null|\d+))$/;

/** Searches by Stripe's query language: clauses joined by AND or by OR, never both. */
export function searchCustomers(world: World, { params }: Call<Stripe.CustomerSearchParams>) {
  const { query, limit = 10, page } = params;
  const { clauses, isAny } = readQuery(query);
  const found = world.customers.all().filter((customer) => {
    const indexed = customer.deleted ? null : searchableOf(customer);
    if (!indexed) return false;
    return isAny ? clauses.some((clause) => fits(indexed, clause)) : clauses.every((clause) => fits(indexed, clause));
  });
  return resultPage(found, { limit, start: page ? Number(Buffer.from(page, 'base64url').toString()) : 0 });
}

function readQuery(query: string): { clauses: Clause[]; isAny: boolean } {
  const isAny = / OR /i.test(query);
  if (isAny && / AND /i.test(query)) throw unreadable('You may not combine AND and OR operators in the same query.');
  const clauses = query.split(isAny ? / OR /i : / AND /i).map((text) => {
    const [, minus, field = '', key, operator = '', double, single, bare] = clausePattern.exec(text.trim()) ?? [];
    if (!field) throw unreadable(`We were unable to parse your search query: ${text}`);
    const value = double ?? single ?? (bare === 'null' ? null : (bare ?? ''));
    return { field, key, operator, value, isNegated: minus === '-' };
  });
  return { clauses, isAny };
}

function unreadable(message: string): Error {
  return invalid(message, 'query');
}

function fits(customer: Searchable, { field, key, operator, value, isNegated }: Clause): boolean {
  const stored = key === undefined ? customer[field as keyof Searchable] : customer.metadata[key];
  return compare(stored as string | number | null | undefined, operator, value) !== isNegated;
}

function compare(stored: string | number | null | undefined, operator: string, value: string | null): boolean {
  if (value === null) return stored === null || stored === undefined;
  if (typeof stored === 'number') return compareNumbers(stored, operator, Number(value));
  if (typeof stored !== 'string') return false;
  const [own, wanted] = [stored.toLowerCase(), value.toLowerCase()];
  return operator === '~' ? own.includes(wanted) : own === wanted;
}

function compareNumbers(stored: number, operator: string, value: number): boolean {
  if (operator === '<') return stored < value;
  if (operator === '>') return stored > value;
  if (operator === '<=') return stored <= value;
  return operator === '>=' ? stored >= value : stored === value;
}

function resultPage(found: Customer[], { limit, start }: { limit: number; start: number }) {
  const size = Math.min(Math.max(limit, 1), 100);
  const hasMore = found.length > start + size;
  return {
    object: 'search_result',
    data: found.slice(start, start + size),
    has_more: hasMore,
    next_page: hasMore ? Buffer.from(String(start + size)).toString('base64url') : null,
    url: '/v1/customers/search',
  };
}
