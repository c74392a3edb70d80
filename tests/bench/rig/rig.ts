import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBot } from './bot.ts';
import { bundle, type Bundle } from './bundle.ts';
import { startDatabase, type Database } from './database.ts';
import { startDistance } from './distance.ts';
import { ports } from './paths-and-ports.ts';
import { settingsFor } from './settings.ts';
import { startWorkerd, type Running } from './workerd.ts';
import type { WorkerdSettings } from './workerd-config.ts';

const bundles = new Map<string, Promise<Bundle>>();
const solaceObjects = [{ className: 'LiveUser', binding: 'LIVE_USER' }];
const bareObjects = [{ className: 'Feed', binding: 'FEED' }];

type SolaceOptions = {
  port?: number;
  databasePort?: number;
  name?: 'solace' | 'socket-count';
  botUrl?: string;
  /** Where Durable Objects store their files; left out, in memory. */
  disk?: string;
};

/** What one measurement starts, and one `close` ends, last first. */
export class Rig {
  readonly #running: Running[] = [];

  /** The local libSQL server with so many users. */
  async database(users: number, port = ports.database): Promise<Database> {
    return this.#keep(await startDatabase(port, users));
  }

  /** The product, optionally with the additional path `/socket-count`. */
  solace(options: SolaceOptions = {}): Promise<Running> {
    const { port = ports.solace, databasePort = ports.database, name = 'solace', botUrl, disk } = options;
    const vars = { ...settingsFor(databasePort), ...(botUrl && { BOT_WEBHOOK_URL: botUrl }) };
    return this.#serve(name, { port, vars, objects: solaceObjects, ...(disk && { disk }) });
  }

  /** The baseline of the product. */
  bare(options: Pick<SolaceOptions, 'databasePort' | 'disk'> = {}): Promise<Running> {
    const { databasePort = ports.database, disk } = options;
    const vars = settingsFor(databasePort);
    return this.#serve('bare', { port: ports.bare, vars, objects: bareObjects, ...(disk && { disk }) });
  }

  /** The port of the database with this latency in ms. */
  async distance(roundTripMs: number): Promise<number> {
    this.#keep(await startDistance(ports.distance, ports.database, roundTripMs));
    return ports.distance;
  }

  async close(): Promise<void> {
    for (const each of this.#running.splice(0).toReversed()) await each.stop();
  }

  /** A folder for what Durable Objects store, in memory where the machine has such a folder. */
  folder(): string {
    const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'solace-objects-'));
    const stop = async () => rmSync(folder, { recursive: true, force: true });
    this.#running.push({ url: '', pid: 0, stop });
    return folder;
  }

  /** A bot that accepts every event and does nothing; the URL for `BOT_WEBHOOK_URL`. */
  async bot(): Promise<string> {
    return this.#keep(await startBot()).url;
  }

  async #serve(name: string, settings: Omit<WorkerdSettings, 'bundle'>): Promise<Running> {
    const built = bundles.get(name) ?? bundle(name);
    bundles.set(name, built);
    return this.#keep(await startWorkerd({ bundle: await built, ...settings }, '/api/health'));
  }

  #keep<Each extends Running>(running: Each): Each {
    this.#running.push(running);
    return running;
  }
}

/** Runs work with a new rig and ends everything that it started. */
export async function withRig<T>(work: (rig: Rig) => Promise<T>): Promise<T> {
  const rig = new Rig();
  try {
    return await work(rig);
  } finally {
    await rig.close();
  }
}
