import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@libsql/client/web';
import { chromium, type Browser } from 'playwright';
import { browserArguments, ensureBrowser } from '../../browser/browser.ts';
import { listen } from '../../sandbox/stripe/listen.ts';
import { Caller, consentRequest } from '../load/request.ts';
import { startDatabase } from './database.ts';
import { ports, settingsFor } from './settings.ts';
import { startProgram, startWorkerd, type Running } from './workerd.ts';

type Options = {
  port?: number;
  databasePort?: number;
  botUrl?: string;
  /** Where Durable Objects store their files; left out, in memory. */
  disk?: string;
};

/** What one measurement starts, and its end stops, last first. */
export class Rig extends AsyncDisposableStack {
  /** The local libSQL server with so many users. */
  async database(users: number, port = ports.database): Promise<Running & { client: Client }> {
    const running = this.keep(await startDatabase(port, users));
    const client = createClient({
      url: `${running.url}/libsql/`,
      authToken: settingsFor(port).TURSO_AUTH_TOKEN,
    });
    return { ...running, client };
  }

  async solace(options: Options = {}, main = 'worker/index'): Promise<Running> {
    const { port = ports.solace, databasePort = ports.database, botUrl, disk } = options;
    const vars = {
      ...settingsFor(databasePort),
      ...(botUrl && { BOT_WEBHOOK_URL: botUrl }),
    };
    return this.keep(
      await startWorkerd({
        main: `${main}.ts`,
        port,
        vars,
        disk,
      }),
    );
  }

  bare(options: Options = {}): Promise<Running> {
    return this.solace({ port: ports.bare, ...options }, 'tests/bench/workers/bare');
  }

  /** The port of the database with this latency in ms. */
  async distance(roundTripMs: number): Promise<number> {
    const order = {
      port: ports.distance,
      target: ports.database,
      roundTripMs,
    };
    this.keep(await startProgram('rig/server-process.ts', order));
    return ports.distance;
  }

  /** A folder for what Durable Objects store, in memory where the machine has such a folder. */
  folder(): string {
    const folder = mkdtempSync(
      join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'solace-objects-'),
    );
    this.defer(async () =>
      rmSync(folder, {
        recursive: true,
        force: true,
      }),
    );
    return folder;
  }

  /** A bot in this process that accepts every event and does nothing; the URL for `BOT_WEBHOOK_URL`. */
  async bot(): Promise<string> {
    const server = await listen(0);
    server.serve((request, response) =>
      request.resume().on('end', () => response.writeHead(200).end('{}')),
    );
    this.defer(() => server.close());
    return `http://127.0.0.1:${server.port}`;
  }

  /** The product with a bot and a folder for the conversations of so many users, who consent to them. */
  async conversations(users: number, place: Options = {}): Promise<Running> {
    return this.conversationsOf(
      Array.from({ length: users }, (_, user) => user),
      place,
    );
  }

  async conversationsOf(users: number[], place: Options = {}): Promise<Running> {
    const solace = await this.solace({
      botUrl: await this.bot(),
      disk: this.folder(),
      ...place,
    });
    const caller = this.caller(solace, 8);
    await Promise.all(users.map(async (user) => caller.call(await consentRequest(user))));
    return solace;
  }

  caller({ url }: Running, connections = 1): Caller {
    const caller = new Caller(url, connections);
    this.defer(() => caller.close());
    return caller;
  }

  keep<Each extends { stop: () => Promise<void> }>(running: Each): Each {
    this.defer(running.stop);
    return running;
  }

  async browser(): Promise<Browser> {
    const browser = await chromium.launch({
      executablePath: ensureBrowser(),
      args: browserArguments,
    });
    this.defer(() => browser.close());
    return browser;
  }
}
