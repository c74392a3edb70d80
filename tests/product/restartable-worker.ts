import { startWorker, type WorkerProcess, type WorkerSettings } from './worker-process.ts';

export type RestartableWorker = {
  /** Resolves with a reason if the Worker's process ends by itself. */
  ended: Promise<string>;
  /** Kills it during its work and restarts it on the same port and state. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
};

/** A Worker that can be killed and restarted while its local services keep running. */
export async function startRestartableWorker(settings: WorkerSettings): Promise<RestartableWorker> {
  const ended = Promise.withResolvers<string>();
  let present: WorkerProcess | undefined;

  async function start(): Promise<void> {
    const started = await startWorker(settings);
    present = started;
    void tellEnd(started);
  }

  async function tellEnd(started: WorkerProcess): Promise<void> {
    const reason = await started.ended;
    if (present === started) ended.resolve(reason);
  }

  await start();
  return {
    ended: ended.promise,
    async restart() {
      const old = present;
      present = undefined;
      await old?.kill();
      await start();
    },
    async stop() {
      await present?.stop();
    },
  };
}
