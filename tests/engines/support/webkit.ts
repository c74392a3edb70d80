import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'playwright/test';
import { Builder, error, Key, Origin, type WebDriver } from 'selenium-webdriver';
import { freePort, waitUntilReady } from '../../product/machine.ts';
import { BrowserEnded, type Engine, type Tab, type Visitor } from './tab.ts';

export type WebKitPrograms = { driver: string; browser: string };

/** WebKitGTK by WebDriver, on a screen in memory, since it has no headless mode. */
export async function startWebKit({ driver, browser }: WebKitPrograms): Promise<Engine> {
  await using started = new AsyncDisposableStack();
  const home = mkdtempSync(join(tmpdir(), 'solace-webkit-'));
  started.defer(() =>
    rmSync(home, {
      recursive: true,
      force: true,
      maxRetries: 3,
    }),
  );
  writeStyle(home);

  const screen = spawn(
    'Xvfb',
    ['-displayfd', '1', '-screen', '0', '1400x4000x24', '-nolisten', 'tcp'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  started.defer(() => end(screen));
  const [display] = (await once(screen.stdout, 'data')) as [Buffer];

  const env = {
    ...process.env,
    DISPLAY: `:${display.toString().trim()}`,
    // Its pages have no language otherwise.
    LANG: 'en_US.UTF-8',
    XDG_CONFIG_HOME: home,
    // Its sound leaves a folder behind.
    PULSE_RUNTIME_PATH: join(home, 'pulse'),
  };
  const running = started.move();
  return {
    name: 'webkit',
    visit: () => visit(driver, browser, env),
    close: () => running.disposeAsync(),
  };
}

/** A driver of its own for each visitor: sometimes it waits for ever for a browser that has ended. */
async function visit(driver: string, browser: string, env: NodeJS.ProcessEnv): Promise<Visitor> {
  await using started = new AsyncDisposableStack();
  const port = await freePort(0, 'PORT');
  const service = spawn(driver, ['-p', String(port)], {
    env,
    stdio: 'ignore',
    detached: true,
  });
  started.defer(() => endGroup(service));
  const ended = once(service, 'exit').then(() => `${driver} ended.`);
  await waitUntilReady([`http://127.0.0.1:${port}/status`], ended);
  const visitor = limited(await within(60_000, startSession(port, browser, env)));
  started.defer(() => within(10_000, visitor.close()).catch(() => {}));

  const running = started.move();
  return { ...visitor, close: () => running.disposeAsync() };
}

/** Only a browser that has crashed takes longer, or has no session any more. */
async function within<T>(ms: number, deed: Promise<T>): Promise<T> {
  using stack = new DisposableStack();
  const late = new Promise<never>((_, reject) => {
    const end = () => reject(new BrowserEnded(`WebKit did not answer for ${ms} ms.`));
    const timer = setTimeout(end, ms);
    stack.defer(() => clearTimeout(timer));
  });
  const ended = (cause: unknown): never => {
    if (!(cause instanceof error.NoSuchSessionError)) throw cause;
    throw new BrowserEnded('WebKit has crashed.', { cause });
  };
  return await Promise.race([deed.catch(ended), late]);
}

/** A window is at least 447 pixels wide with the usual paddings of its tools. */
function writeStyle(home: string): void {
  mkdirSync(join(home, 'gtk-3.0'));
  writeFileSync(join(home, 'gtk-3.0/gtk.css'), '* { padding: 0; margin: 0; min-width: 0; }');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}

/** Ends a driver with its browser. A driver that waits for its browser ignores a polite signal. */
async function endGroup(leader: ChildProcess): Promise<void> {
  if (leader.exitCode !== null) return;
  const exit = once(leader, 'exit');
  process.kill(-leader.pid!, 'SIGKILL');
  await exit;
}

async function startSession(
  port: number,
  binary: string,
  env: NodeJS.ProcessEnv,
): Promise<Visitor> {
  const args = ['--automation', '--enable-mock-capture-devices=true'];
  const session = await new Builder()
    .usingServer(`http://127.0.0.1:${port}`)
    .withCapabilities({
      browserName: 'MiniBrowser',
      'webkitgtk:browserOptions': { binary, args },
    })
    .build();
  await session.manage().setTimeouts({
    script: 15_000,
    pageLoad: 30_000,
  });
  // Otherwise no element has the focus.
  execFileSync('xdotool', ['search', '--onlyvisible', '--class', 'MiniBrowser', 'windowfocus'], {
    env,
  });
  const first = await session.getWindowHandle();
  const handles = new Set<string>();
  return {
    open: async () => {
      if (handles.size > 0) await session.switchTo().newWindow('window');
      const handle = handles.size > 0 ? await session.getWindowHandle() : first;
      handles.add(handle);
      return tabOf(session, handle);
    },
    opened: async () => {
      const handle = (await session.getAllWindowHandles()).find((each) => !handles.has(each));
      if (!handle) return null;
      handles.add(handle);
      return tabOf(session, handle);
    },
    close: () => session.quit(),
  };
}

const keys: Record<string, string> = {
  Enter: Key.ENTER,
  Tab: Key.TAB,
  Escape: Key.ESCAPE,
  Backspace: Key.BACK_SPACE,
  Space: Key.SPACE,
  ArrowRight: Key.ARROW_RIGHT,
  Shift: Key.SHIFT,
  Control: Key.CONTROL,
};

const pointAt = (x: number, y: number) => ({
  x: Math.round(x),
  y: Math.round(y),
  origin: Origin.VIEWPORT,
  duration: 0,
});

function tabOf(session: WebDriver, handle: string): Tab {
  const here = async () => {
    await session.switchTo().window(handle);
    return session;
  };
  const run: Tab['run'] = async (work, ...args) => {
    await here();
    const [outcome, value] = await session.executeAsyncScript<[string, never]>(
      `const done = arguments[arguments.length - 1];
       const args = [...arguments].slice(0, -1);
       Promise.resolve().then(() => (${String(work)})(...args))
         .then((value) => done(['value', value]), (error) => done(['error', String(error)]));`,
      ...args,
    );
    if (outcome === 'error') throw new Error(value);
    return value;
  };
  return limited({
    goto: async (url) => {
      await (await here()).get(url);
    },
    run,
    click: async (x, y) => {
      const actions = (await here()).actions();
      await actions.move(pointAt(x, y)).click().perform();
    },
    move: async (x, y) => {
      await (await here()).actions().move(pointAt(x, y)).perform();
    },
    press: async (name) => {
      const [key = '', modifier] = name.split('+').toReversed();
      const actions = (await here()).actions();
      if (modifier) actions.keyDown(keys[modifier] ?? modifier);
      actions.keyDown(keys[key] ?? key).keyUp(keys[key] ?? key);
      if (modifier) actions.keyUp(keys[modifier] ?? modifier);
      await actions.perform();
    },
    type: async (text) => {
      await (await here()).actions().sendKeys(text).perform();
    },
    resize: async (width, height) => {
      const window = (await here()).manage().window();
      const size = () =>
        run(() => ({
          width: innerWidth,
          height: innerHeight,
        }));
      for (let now = await size(); now.width !== width || now.height !== height;) {
        const rect = await window.getRect();
        const before = now;
        await window.setRect({
          x: 0,
          y: 0,
          width: rect.width + width - before.width,
          height: rect.height + height - before.height,
        });
        // The page learns its size after the window has it.
        const look = async () => (now = await size());
        await expect.poll(look, `another size than ${before.height}`).not.toEqual(before);
      }
    },
    picture: async (file) => writeFileSync(file, await (await here()).takeScreenshot(), 'base64'),
  });
}

/** Gives each deed a limit. */
function limited<Deeds extends object>(deedsByName: Deeds): Deeds {
  const deeds = Object.entries(deedsByName) as [string, (...args: unknown[]) => Promise<unknown>][];
  const withLimit = deeds.map(([name, deed]) => [
    name,
    (...args: unknown[]) => within(90_000, deed(...args)),
  ]);
  return Object.fromEntries(withLimit) as Deeds;
}
