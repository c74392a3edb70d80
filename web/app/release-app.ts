import { errorWords } from '#words/page-errors';
import { layoutWords } from '#words/layout';
import * as timeLimits from '../data/time-limits.ts';
import { send } from '../data/send.ts';
import { link } from '#styled/recipes';

/** ms for which slow data delays the app. */
const maxDelay = 500;
/** ms, unless a connection is reported earlier. */
const retryAfter = 5000;

/** Filling blocks the main thread, so `main.tsx` goes on after it. */
export async function releaseApp(filled: Promise<void>): Promise<void> {
  let release = () => {};
  // A part may import the app, which would start without the others.
  const parts = new Promise<void>((resolve) => (release = resolve));
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
      return release();
    }

    const status = await statusOf(appFile());
    if (status === 0) {
      notice.show(errorWords.network);
      await connection();
    } else if (status !== 200 || attempt > 1) {
      // The server responds: a deployment has removed the file.
      return reloadOrGiveUp(notice);
    }
  }
}

/** The inline script precedes the body. */
export function parsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) =>
    addEventListener('DOMContentLoaded', () => resolve(), { once: true }),
  );
}

const appFile = () => document.querySelector<HTMLLinkElement>('link#app')?.href ?? '';

/** So that a later loss of the connection hurts none. */
function hasParts(): Promise<boolean> {
  // `head-script.ts` waits for a paint, which a hidden page lacks.
  const links = document.querySelector<HTMLTemplateElement>('#after-paint, #at-start');
  if (links) document.head.append(links.content);
  // Too old an engine has renamed the template.
  if (!appFile()) return Promise.resolve(true);

  const parts = document.querySelectorAll<HTMLLinkElement>('link[rel=modulepreload]');
  return Promise.all([...parts].map(({ href }) => import(/* @vite-ignore */ href))).then(
    () => true,
    () => false,
  );
}

/** 0 without a connection. */
async function statusOf(file: string): Promise<number> {
  const request = { method: 'HEAD', cache: 'no-store' } as const;
  const response = await send(file, timeLimits.reading, request);
  return typeof response === 'string' ? 0 : response.status;
}

function connection(): Promise<unknown> {
  const online = new Promise((resolve) => addEventListener('online', resolve, { once: true }));
  return Promise.race([wait(retryAfter), online]);
}

/** A reloaded page has the present files: a second time would not help. */
function reloadOrGiveUp(notice: StartNotice): void {
  const { state } = history;
  if (hasTyped() || state?.wasReloaded) return notice.show(layoutWords.wrong);
  history.replaceState({ ...state, wasReloaded: true }, '');
  location.reload();
}

/** Nothing keeps yet what is typed into a shell. */
const hasTyped = () => document.querySelector('textarea')?.value;

const wait = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

class StartNotice {
  #text: string | null = null;
  #place: { status: Element; served: ChildNode[] } | null = null;

  show(text: string): void {
    this.#text = text;
    this.render();
  }

  /** React expects what was served. */
  hide(): void {
    this.#place?.status.replaceChildren(...this.#place.served);
    this.#place = null;
    this.#text = null;
  }

  /** Also in a shell that was filled afterwards. */
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

/** Null once React has taken over. */
export const shellRoot = (): HTMLElement | null =>
  document.querySelector('#root[data-prerendered=shell]');
