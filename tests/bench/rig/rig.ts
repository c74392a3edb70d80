import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, type Bundle, startProgram, startWorkerd, type Running, type WorkerdSettings } from './workerd.ts';
import { startDatabase, type Database } from './database.ts';
import { ports, settingsFor } from './settings.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

const bundles = new Map<string, Promise<Bundle>>();
/** A proxy that adds a latency to a port. */
const distance = fileURLToPath(new URL('distance-process.ts', import.meta.url));
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
    const order = { port: ports.distance, target: ports.database, roundTripMs };
    this.#keep(await startProgram(distance, order, ''));
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

/** A bot that accepts every event; it runs in the process that measures, and does nothing else. */
async function startBot(): Promise<Running> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200).end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pid: process.pid, stop };
}
