import type { Bundle } from './bundle.ts';

/** The class of Durable Objects, and the binding that reaches them. */
export type DurableObjects = { className: string; binding: string };

export type WorkerdSettings = {
  bundle: Bundle;
  port: number;
  /** The classes of the Durable Objects, and the bindings that reach them. */
  objects: DurableObjects[];
  /** A folder for what the objects store; left out, they keep it in memory. */
  disk?: string;
  vars: Record<string, string>;
};

const quote = (text: string) => JSON.stringify(text);

/** The bindings of wrangler.toml with their limits. */
const limiters = [
  ['RATE_LIMITER', 600],
  ['NETWORK_RATE_LIMITER', 3000],
] as const;

/** A rate limiter that counts by key and minute in the isolate's memory, as Cloudflare counts per location. */
const rateLimiter = `
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
 * The configuration of a plain workerd that serves a bundle on this machine alone. Objects store in memory unless a
 * folder is given: a file for each object would add this disk's cost to the product's.
 */
export function workerdConfig({ bundle, port, objects, vars, disk }: WorkerdSettings): string {
  const texts = Object.entries(vars).map(([name, value]) => `(name = ${quote(name)}, text = ${quote(value)})`);
  const bindings = [
    ...texts,
    ...objects.map(
      ({ binding, className }) => `(name = ${quote(binding)}, durableObjectNamespace = ${quote(className)})`,
    ),
    ...limiters.map(
      ([name, limit]) => `(name = "${name}", wrapped = (moduleName = "bench-internal:rate-limiter",
      innerBindings = [(name = "limit", json = "${limit}")]))`,
    ),
  ];
  const namespaces = objects.map(
    ({ className }) =>
      `(className = ${quote(className)}, uniqueKey = ${quote(`bench-${className}`)}, enableSql = true)`,
  );
  const storage = disk ? `(localDisk = "objects")` : '(inMemory = void)';
  const disks = disk ? `(name = "objects", disk = (path = ${quote(disk)}, writable = true)),` : '';
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "worker", worker = .worker),
    ${disks}
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "worker")],
  extensions = [(modules = [(name = "bench-internal:rate-limiter", internal = true, esModule = ${quote(rateLimiter)})])],
);

const worker :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "index.js")],
  compatibilityDate = ${quote(bundle.compatibilityDate)},
  compatibilityFlags = [${bundle.compatibilityFlags.map(quote).join(', ')}],
  bindings = [${bindings.join(',\n    ')}],
  durableObjectNamespaces = [${namespaces.join(', ')}],
  durableObjectStorage = ${storage},
);
`;
}
