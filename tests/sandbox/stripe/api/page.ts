import { invalid } from '../errors.ts';

export type List<T> = { object: 'list'; data: T[]; has_more: boolean; url: string };
export type PageParams = { limit?: number; starting_after?: string; ending_before?: string };
type RangeParam = number | { gt?: number; gte?: number; lt?: number; lte?: number };

/** A whole list, as Stripe nests it inside an object. */
export function listOf<T>(data: T[], url: string): List<T> {
  return { object: 'list', data, has_more: false, url };
}

/** One page of what is listed newest first. */
export function pageOf<T extends { id: string }>(docs: T[], params: PageParams, url: string): List<T> {
  const { limit = 10, starting_after: after, ending_before: before } = params;
  if (limit < 1 || limit > 100)
    throw invalid('This value must be between 1 and 100.', 'limit', 'parameter_invalid_integer');
  if (after !== undefined && before !== undefined) {
    throw invalid('You can only pass one of `starting_after` and `ending_before`.', 'ending_before');
  }
  if (before !== undefined) {
    const earlier = docs.slice(0, cursor(docs, before, 'ending_before'));
    return { ...listOf(earlier.slice(-limit), url), has_more: earlier.length > limit };
  }
  const rest = after === undefined ? docs : docs.slice(cursor(docs, after, 'starting_after') + 1);
  return { ...listOf(rest.slice(0, limit), url), has_more: rest.length > limit };
}

function cursor(docs: { id: string }[], id: string, param: string): number {
  const index = docs.findIndex((doc) => doc.id === id);
  if (index === -1) throw invalid(`No such object: '${id}'`, param, 'resource_missing');
  return index;
}

/** Whether a time lies where a list's `created` or period filter wants it. */
export function inRange(at: number, range: RangeParam | undefined): boolean {
  if (range === undefined) return true;
  if (typeof range === 'number') return at === range;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range;
  return at > gt && at >= gte && at < lt && at <= lte;
}
