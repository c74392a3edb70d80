import { listen } from '../sandbox/listen.ts';

/** The port itself if it is free; 0 finds a free one. Rejects with a message that names the setting. */
export async function freePort(port: number, setting: string): Promise<number> {
  const found = await listen(port).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be opened (${error.code})`;
    throw new Error(`Port ${port} ${why}. Choose another one with ${setting}, for example ${setting}=${port + 10}.`);
  });
  await found.close();
  return found.port;
}
