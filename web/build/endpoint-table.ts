import { endpoints, type Endpoint } from '#contract/endpoints';
import type { Plugin } from 'vite';

/**
 * Replaces the endpoint table by one without schemas for the browser: only the API validates, and the schemas would add
 * about 6 KiB of scripts to every page that calls it.
 */
export function endpointTable(): Plugin {
  return {
    name: 'endpoint-table',
    apply: 'build',
    load: (id) => (id.endsWith('/worker/contract/endpoints.ts') ? `export const endpoints = ${browserTable()};` : null),
  };
}

function browserTable(): string {
  const rows = Object.entries<Endpoint>(endpoints).map(([name, { access, method, path, input, params, query }]) => [
    name,
    { access, method, path, ...presence({ input, params, query }) },
  ]);
  return JSON.stringify(Object.fromEntries(rows));
}

/** The website only needs to know whether a call has a body, path parameters or a query. */
function presence(schemas: Record<string, unknown>): Record<string, true> {
  const present = Object.keys(schemas).filter((name) => schemas[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, true]));
}
