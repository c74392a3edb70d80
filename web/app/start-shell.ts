import { errorWords } from '#words/page-errors';
import { layoutWords } from '#words/layout';
import * as timeLimits from '../data/time-limits.ts';
import { send } from '../data/send.ts';
import { link } from '#styled/recipes';

/** The longest time (ms) for which slow data delays the app. */
const maxDelay = 500;
/** The time (ms) between two attempts, unless the browser reports a connection earlier. */
const retryAfter = 5000;

/** Starts the app after the shell was filled, since that blocks the main thread; offline the shell says so. */
export async function startApp(filled: Promise<void>): Promise<void> {
  let begin = () => {};
  // A part may import the app, which would start without the others.
  const parts = new Promise<void>((resolve) => (begin = resolve));
  if (globalThis.earlyStart) globalThis.earlyStart.parts = parts;
  const notice = new StartNotice();
  const fill = filled.then(
    () => notice.render(),
    () => null,
  );
  await Promise.race([fill, wait(maxDelay)]);
  await parsed();

  for (let attempt = 1; ; attempt += 1) {
    if (await hasParts()) {
      notice.hide();
      return begin();
    }
    const status = await statusOf(appFile());
    // The server responds, so the connection is not the reason. After a deployment the file is missing.
    if (status > 0 && (status !== 200 || attempt > 1)) return reloadOrGiveUp(notice);
    if (status > 0) continue;
    notice.show(errorWords.network);
    await connection();
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
  const links = document.querySelector<HTMLTemplateElement>('#after-paint, #at-start');
  if (links) document.head.append(links.content);
  // An engine that is too old has renamed the template, and starts nothing.
  if (!appFile()) return Promise.resolve(true);

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
  const online = new Promise((resolve) => addEventListener('online', resolve, { once: true }));
  return Promise.race([wait(retryAfter), online]);
}

/** A page that was loaded again names the files of the present deployment, so a second time would not help. */
function reloadOrGiveUp(notice: StartNotice): void {
  const { state } = history;
  if (hasTyped() || state?.wasReloaded) return notice.show(layoutWords.wrong);
  history.replaceState({ ...state, wasReloaded: true }, '');
  location.reload();
}

/** Nothing keeps yet what is typed into a shell. */
const hasTyped = () => document.querySelector('textarea')?.value;

const wait = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

/** Says in the shell, in place of its status, why the app has not started. */
class StartNotice {
  #text: string | null = null;
  #place: { status: Element; served: ChildNode[] } | null = null;

  show(text: string): void {
    this.#text = text;
    this.render();
  }

  /** Restores what was served, which React expects. */
  hide(): void {
    this.#place?.status.replaceChildren(...this.#place.served);
    this.#place = null;
    this.#text = null;
  }

  /** Shows the text, if there is one, also in a shell that was filled afterwards. */
  render(): void {
    const status = shellRoot()?.querySelector('main output');
    if (this.#text === null || !status) return;
    if (this.#place?.status !== status) this.#place = { status, served: [...status.childNodes] };
    const again = document.createElement('button');
    again.type = 'button';
    again.className = link();
    again.textContent = layoutWords.refreshPage;
    again.addEventListener('click', () => location.reload());
    status.replaceChildren(`${this.#text} `, again);
  }
}

/** The root while it shows the served shell; null once React has taken over. */
export const shellRoot = (): HTMLElement | null =>
  document.querySelector('#root[data-prerendered=shell]');
