import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, type Listening } from '../sandbox/start.ts';

/** Forwards the Worker's events to the local bot, or to the bot whose address a test puts to `/bot`. */
export async function startBotSwitch(localBot: string): Promise<Listening> {
  let bot = localBot;
  const server = await listen(0);
  server.serve((request, response) => void respond(request, response));
  return server;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    if (request.method === 'PUT') {
      bot = (JSON.parse(body.toString()) as { url: string | null }).url ?? localBot;
      response.end('{}');
      return;
    }
    const headers = Object.entries(request.headers).filter(([name]) => name.startsWith('webhook-'));
    const forwarded = await fetch(bot, { method: 'POST', body, headers: headers as [string, string][] }).catch(
      () => null,
    );
    response.writeHead(forwarded?.status ?? 502).end(await forwarded?.text());
  }
}
