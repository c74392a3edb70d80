import { errorWords } from '#words/page-errors';
import { layoutWords } from '#words/layout';
import * as timeLimits from '../../data/time-limits.ts';
import { send } from '../../data/send.ts';
import { link } from '#styled/recipes';

/** The longest time (ms) for which slow data delays the app. */
const maxDelay = 500;
/** The time (ms) between two attempts, unless the browser reports a connection earlier. */
const retryAfter = 5000;

/** Starts the app after the shell was filled, since that blocks the main thread; offline the shell says so. */
export async function startApp(filled: Promise<void>): Promise<void> {
  let resolve = () => {};
  // A part may import the app, which would start without the others.
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  if (globalThis.earlyStart) globalThis.earlyStart.parts = promise;
  await Promise.race([filled.catch(() => null), wait(maxDelay)]);
  await parsed();
  for (let attempt = 1; ; attempt += 1) {
    if (await hasParts()) {
      hideProblem();
      return resolve();
    }
    const status = await statusOf(appFile());
    // The server responds, so the connection is not the reason. After a deployment the file is missing.
    if (status > 0 && (status !== 200 || attempt > 1)) return reloadOrGiveUp();
    if (status === 0) await connection();
  }
}

/** Resolves when the whole HTML has arrived: the inline script precedes the body. */
export function parsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) =>
    addEventListener('DOMContentLoaded', () => resolve(), { once: true }),
  );
}

const appFile = () => document.querySelector<HTMLLinkElement>('link#app')?.href ?? '';

/** Loads all parts: the app then finds each of them, whatever happens to the connection. */
function hasParts(): Promise<boolean> {
  // `head-script.ts` does so after the first paint, which a hidden page does not have.
  const links = document.querySelector<HTMLTemplateElement>('template#after-paint');
  if (links) document.head.append(links.content);
  const parts = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]');
  return Promise.all([...parts].map(({ href }) => import(/* @vite-ignore */ href))).then(
    () => true,
    () => false,
  );
}

/** The status of the response; 0 without a connection. */
async function statusOf(file: string): Promise<number> {
  const request = { method: 'HEAD', cache: 'no-store' } as const;
  const response = await send(file, timeLimits.reading, request);
  return typeof response === 'string' ? 0 : response.status;
}

function connection(): Promise<unknown> {
  showProblem(errorWords.network);
  const online = new Promise((resolve) => addEventListener('online', resolve, { once: true }));
  return Promise.race([wait(retryAfter), online]);
}

/** A page that was loaded again names the files of the present deployment, so a second time would not help. */
function reloadOrGiveUp(): void {
  const { state } = history;
  if (hasTyped() || state?.wasReloaded) return showProblem(layoutWords.wrong);
  history.replaceState({ ...state, wasReloaded: true }, '');
  location.reload();
}

/** Nothing keeps yet what is typed into a shell. */
const hasTyped = () => document.querySelector('textarea')?.value;

const wait = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

/** An intersection is reported right before a paint, a message arrives after it; hidden pages do neither. */
export function painted(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => resolve(), { once: true });
    port1.start();
    const observer = new IntersectionObserver(() => {
      observer.disconnect();
      port2.postMessage(null);
    });
    observer.observe(document.documentElement);
  });
}

let problem: string | null = null;
/** Where the problem is shown, and what was served there. */
let place: { slot: Element; served: ChildNode[] } | null = null;

/** Says in the shell why the app has not started. */
function showProblem(text: string): void {
  problem = text;
  renderProblem();
}

/** Restores what was served, which React expects. */
function hideProblem(): void {
  place?.slot.replaceChildren(...place.served);
  place = null;
  problem = null;
}

/** Shows the problem, if there is one, in a shell that was filled afterwards. */
export function renderProblem(): void {
  const slot = shellRoot()?.querySelector('[data-slot=start]');
  if (problem === null || !slot) return;
  if (place?.slot !== slot) place = { slot, served: [...slot.childNodes] };
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: link(),
  });
  button.textContent = layoutWords.refreshPage;
  button.addEventListener('click', () => location.reload());
  slot.replaceChildren(`${problem} `, button);
}

/** The root while it shows the served shell; null once React has taken over. */
export const shellRoot = (): HTMLElement | null =>
  document.querySelector('#root[data-prerendered=shell]');
