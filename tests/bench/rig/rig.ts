import { bundle, type Bundle } from './bundle.ts';
import { startDatabase, type Database } from './database.ts';
import { ports } from './places.ts';
import { settingsFor } from './settings.ts';
import { startWorkerd, type Running } from './workerd.ts';

const bundles = new Map<string, Promise<Bundle>>();
const solaceObjects = { className: 'UsageFeed', binding: 'USAGE_FEED' };
const bareObjects = { className: 'Feed', binding: 'FEED' };

/** What one measurement starts, and one `close` ends, last first. */
export class Rig {
  readonly #running: Running[] = [];

  /** The local libSQL server with so many users. */
  async database(users: number, port = ports.database): Promise<Database> {
    return this.#keep(await startDatabase(port, users));
  }

  /** The product, or the same with a `/census` beside it. */
  solace(options: { port?: number; databasePort?: number; name?: 'solace' | 'census' } = {}): Promise<Running> {
    const { port = ports.solace, databasePort = ports.database, name = 'solace' } = options;
    return this.#serve(name, port, databasePort, solaceObjects);
  }

  /** What the product is compared with. */
  bare(): Promise<Running> {
    return this.#serve('bare', ports.bare, ports.database, bareObjects);
  }

  async close(): Promise<void> {
    for (const each of this.#running.splice(0).toReversed()) await each.stop();
  }

  async #serve(name: string, port: number, databasePort: number, objects: typeof bareObjects): Promise<Running> {
    const built = bundles.get(name) ?? bundle(name);
    bundles.set(name, built);
    const vars = settingsFor(databasePort);
    return this.#keep(await startWorkerd({ bundle: await built, port, objects, vars }, '/api/health'));
  }

  #keep<Each extends Running>(running: Each): Each {
    this.#running.push(running);
    return running;
  }
}

/** Runs work with a rig of its own and ends whatever it started. */
export async function withRig<T>(work: (rig: Rig) => Promise<T>): Promise<T> {
  const rig = new Rig();
  try {
    return await work(rig);
  } finally {
    await rig.close();
  }
}
