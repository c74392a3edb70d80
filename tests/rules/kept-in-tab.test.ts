import { beforeEach, describe, expect, it, vi } from 'vitest';
import { jwt } from '../browser/support/stub.ts';

/** A browser's storage, which may be blocked or full. */
class Area {
  readonly values = new Map<string, string>();
  isBlocked = false;
  room = Infinity;
  getItem = (key: string) => this.#open().get(key) ?? null;
  removeItem = (key: string) => void this.#open().delete(key);
  setItem = (key: string, value: string) => {
    if (value.length > this.room) throw new DOMException('full', 'QuotaExceededError');
    this.#open().set(key, value);
  };
  #open() {
    if (this.isBlocked) throw new DOMException('blocked', 'SecurityError');
    return this.values;
  }
}

/** What `Object.keys` lists of a browser's storage are its keys. */
const listed = (area: Area) =>
  new Proxy(area, {
    ownKeys: ({ values }) => [...values.keys()],
    getOwnPropertyDescriptor: () => ({
      enumerable: true,
      configurable: true,
    }),
  });

const local = new Area();
let tab = new Area();
const listeners = new Map<string, (event: Event) => void>();
vi.stubGlobal('localStorage', listed(local));
vi.stubGlobal('addEventListener', (name: string, listener: (event: Event) => void) =>
  listeners.set(name, listener),
);

const tokenOf = (sub: string, session: string) => jwt({ sub }).replace(/[^.]+$/, session);
const mine = tokenOf('me', 'session-1');
const mineLater = tokenOf('me', 'session-2');
const yours = tokenOf('you', 'session-3');

/** The module of a page that loads now: its memory is empty, the tab's storage is what it was. */
async function loadPage() {
  vi.resetModules();
  listeners.clear();
  vi.stubGlobal('sessionStorage', listed(tab));
  return (await import('../../web/data/kept-in-tab.ts')).keptInTab;
}

beforeEach(() => {
  tab = new Area();
  local.values.clear();
});

describe('what a tab keeps', () => {
  it('comes back for the same person after a reload, also in another session, and for nobody else', async () => {
    (await loadPage()).keep('chat', mine, 'Half a sentence');
    const kept = await loadPage();
    expect(kept.read('chat', mineLater)).toBe('Half a sentence');
    expect([kept.read('chat', yours), kept.read('chat', null)]).toEqual([null, null]);
    expect(kept.waitsForOwner()).toBe(true);
  });

  it('is gone before anybody else is signed in, and stays for its person', async () => {
    const kept = await loadPage();
    kept.keep('chat', mine, 'Mine');
    kept.keepOnly(mineLater);
    expect(kept.read('chat', mine)).toBe('Mine');
    kept.keepOnly(yours);
    expect(kept.read('chat', mine)).toBeNull();
    expect([...tab.values.keys()]).toEqual([]);
  });

  it('is gone at a log-in, if it is the receipt of somebody who had not logged in', async () => {
    const kept = await loadPage();
    kept.keep('receipt', null, { state: 'received', receipt: 'Name: Ada' });
    expect((await loadPage()).read('receipt', null)).toMatchObject({ receipt: 'Name: Ada' });
    expect(kept.isLostByReload()).toBe(false);

    kept.keepOnly(mine);
    expect([...tab.values.keys()]).toEqual([]);
  });

  it('is gone after a log-out by hand, also where another tab saw it or slept', async () => {
    const kept = await loadPage();
    kept.keep('chat', mine, 'Mine');
    const asleep = new Map(tab.values);
    kept.removeAll(mine);
    expect(tab.values.size).toBe(0);
    for (const [key, value] of asleep) tab.values.set(key, value);
    const awake = await loadPage();
    expect(awake.wasSignedOut(mine)).toBe(true);
    expect(awake.read('chat', mineLater)).toBeNull();
    expect(awake.waitsForOwner()).toBe(false);
  });

  it('of a guest is there for whoever signs in then, and their own comes first', async () => {
    const kept = await loadPage();
    kept.keep('contact', null, 'Written as a guest');
    kept.keepOnly(mine);
    expect(kept.read('contact', mine)).toBe('Written as a guest');
    kept.keep('contact', mine, 'Mine');
    expect(kept.read('contact', mine)).toBe('Mine');
    kept.remove('contact', mine);
    expect(kept.read('contact', mine)).toBeNull();
  });

  it('of a guest follows what the same person had begun, and nothing of either is lost', async () => {
    const kept = await loadPage();
    kept.keep('contact', mine, {
      name: 'Me',
      email: 'old@a.example',
      message: 'First',
    });
    kept.keep('contact', null, {
      name: '',
      email: 'new@a.example',
      message: 'Second',
    });
    kept.keepOnly(mineLater);
    const both = {
      name: 'Me',
      email: 'new@a.example',
      message: 'First\n\nSecond',
    };
    expect(kept.read('contact', mine)).toEqual(both);
    expect(kept.read('contact', null)).toBeNull();
    kept.keep('contact', null, both);
    kept.keepOnly(mineLater);
    expect(kept.read('contact', mine)).toEqual(both);
  });

  it('takes nothing of a person who has logged out, or after whom another one has signed in', async () => {
    const kept = await loadPage();
    kept.keepOnly(mine);
    kept.removeAll(mine);
    kept.keep('recording', mine, 'Made until the log-out');
    kept.keepOnly(yours);
    kept.keep('recording', mineLater, 'Made until somebody else came');
    expect([...tab.values.keys()]).toEqual([]);
    kept.keep('recording', yours, 'Theirs');
    expect(kept.read('recording', yours)).toBe('Theirs');
  });

  it('keeps the slices of a recording for its person, and removes them together', async () => {
    const kept = await loadPage();
    const keepSlices = () => [0, 1, 12].map((index) => kept.keep(`slice${index}`, mine, index));
    keepSlices();
    kept.keepOnly(mineLater);
    kept.remove('recording', mine);
    expect([0, 1, 12].map((index) => kept.read(`slice${index}`, mine))).toEqual([0, 1, 12]);
    kept.remove('slice', mine);
    expect(tab.values.size).toBe(0);
    keepSlices();
    kept.keepOnly(yours);
    expect(tab.values.size).toBe(0);
  });

  it.each(['blocked', 'full'])(
    'stays in memory if the storage is %s, and leaving asks',
    async (what) => {
      if (what === 'blocked') tab.isBlocked = true;
      else tab.room = 10;
      const kept = await loadPage();
      kept.keep('chat', mine, 'A text that is longer');
      expect(kept.read('chat', mine)).toBe('A text that is longer');
      expect(kept.isLostByReload()).toBe(true);
      const event = new Event('beforeunload', { cancelable: true });
      listeners.get('beforeunload')?.(event);
      expect(event.defaultPrevented).toBe(true);
      kept.remove('chat', mine);
      expect(kept.isLostByReload()).toBe(false);
    },
  );

  it('asks nothing when a reload loses nothing', async () => {
    const kept = await loadPage();
    kept.keep('chat', mine, 'Mine');
    expect([kept.isLostByReload(), listeners.has('beforeunload')]).toEqual([false, false]);
  });

  it('survives what other scripts write under its keys', async () => {
    const kept = await loadPage();
    for (const value of ['', '{', '7', 'null', '{"a":1}', '[]']) {
      tab.values.set('kept.chat.me', value);
      expect(kept.read('chat', mine)).toBeNull();
    }
  });
});
