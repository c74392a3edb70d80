import { invalid } from './errors.ts';
import type { Doc, Table } from '../table.ts';

export type List<T> = { object: 'list'; data: T[]; has_more: boolean; url: string };
export type PageParams = { limit?: number; starting_after?: string; ending_before?: string };
type RangeParam = number | { gt?: number; gte?: number; lt?: number; lte?: number };

/** A complete list in the format of a list inside an object. */
export function listOf<T>(data: T[], url: string): List<T> {
  return { object: 'list', data, has_more: false, url };
}

/** One page of a table, newest first. A cursor may name an object that the filter excludes. */
export function pageOf<T extends Doc>(docs: T[], params: PageParams, url: string, table: Table<T>): List<T> {
  const order = new Map((isPaged(params) ? table.all() : []).map(({ id }, index) => [id, index]));
  return cut(docs, params, url, { order, label: table.label });
}

/** One page of a list inside an object, such as an invoice's lines. */
export function pageWithin<T extends { id: string }>(docs: T[], params: PageParams, url: string, label: string) {
  return cut(docs, params, url, { order: new Map(docs.map(({ id }, index) => [id, index])), label });
}

type Positions = { order: ReadonlyMap<string, number>; label: string };

function isPaged({ starting_after: after, ending_before: before }: PageParams): boolean {
  return after !== undefined || before !== undefined;
}

function cut<T extends { id: string }>(docs: T[], params: PageParams, url: string, positions: Positions): List<T> {
  const { starting_after: after, ending_before: before } = params;
  // Recorded: Stripe moves a limit silently into 1 to 100.
  const limit = Math.min(Math.max(params.limit ?? 10, 1), 100);
  const from = after === undefined ? -1 : positionOf(after, 'starting_after', positions);
  const to = before === undefined ? Infinity : positionOf(before, 'ending_before', positions);
  if (after !== undefined && before !== undefined) {
    throw invalid('Received both starting_after and ending_before parameters. Please pass in only one.');
  }
  if (!isPaged(params)) return { ...listOf(docs.slice(0, limit), url), has_more: docs.length > limit };
  const rest = docs.filter(({ id }) => {
    const position = positions.order.get(id) ?? -1;
    return position > from && position < to;
  });
  const page = before === undefined ? rest.slice(0, limit) : rest.slice(-limit);
  return { ...listOf(page, url), has_more: rest.length > limit };
}

function positionOf(id: string, param: string, { order, label }: Positions): number {
  const position = order.get(id);
  if (position === undefined) throw invalid(`No such ${label}: '${id}'`, param, 'resource_missing');
  return position;
}

/** Whether a time is within a `created` or period filter. */
export function inRange(at: number, range: RangeParam | undefined): boolean {
  if (range === undefined) return true;
  if (typeof range === 'number') return at === range;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range;
  return at > gt && at >= gte && at < lt && at <= lte;
}
