import type { Bundle } from './bundle.ts';

export type WorkerdSettings = {
  bundle: Bundle;
  port: number;
  /** The class of the Durable Objects, and the binding that reaches them. */
  objects: { className: string; binding: string };
  vars: Record<string, string>;
};

const quote = (text: string) => JSON.stringify(text);

/** Counts by key and minute in the isolate's memory, as Cloudflare counts near the caller. */
const fence = `
export default ({ limit }) => {
  let minute = 0;
  let counts = new Map();
  return {
    async limit({ key }) {
      const now = Math.floor(Date.now() / 60000);
      if (now !== minute) [minute, counts] = [now, new Map()];
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= limit };
    },
  };
};`;

/**
 * The configuration of a plain workerd that serves a bundle on this machine alone. Objects keep what they store in
 * memory: the feed stores nothing, and a file for each object would be this disk's cost, not the product's.
 */
export function workerdConfig({ bundle, port, objects, vars }: WorkerdSettings): string {
  const texts = Object.entries(vars).map(([name, value]) => `(name = ${quote(name)}, text = ${quote(value)})`);
  const bindings = [
    ...texts,
    `(name = ${quote(objects.binding)}, durableObjectNamespace = ${quote(objects.className)})`,
    `(name = "PUBLIC_FENCE", wrapped = (moduleName = "bench-internal:fence",
      innerBindings = [(name = "limit", json = "600")]))`,
  ];
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "worker", worker = .worker),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "worker")],
  extensions = [(modules = [(name = "bench-internal:fence", internal = true, esModule = ${quote(fence)})])],
);

const worker :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "index.js")],
  compatibilityDate = ${quote(bundle.compatibilityDate)},
  compatibilityFlags = [${bundle.compatibilityFlags.map(quote).join(', ')}],
  bindings = [${bindings.join(',\n    ')}],
  durableObjectNamespaces = [(className = ${quote(objects.className)}, uniqueKey = "bench", enableSql = true)],
  durableObjectStorage = (inMemory = void),
);
`;
}
