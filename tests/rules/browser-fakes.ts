import { vi } from 'vitest';

/** What every fake recorder has recorded. */
export const sound = new Blob(['sound'], { type: 'audio/ogg' });

/** Takes the place of what a browser has for recordings, until `vi.unstubAllGlobals`. */
export function stubBrowser() {
  const page = new Page();
  const track = new Track();
  const tracks = () => [track];
  const stream = { getTracks: tracks, getAudioTracks: tracks } as object as MediaStream;
  const wakeLock = new WakeLock();
  const getUserMedia = vi.fn(async () => stream);
  const permission = { state: 'granted' };
  const [localStorage, sessionStorage] = [new Area(), new Area()];

  const globals = {
    MediaRecorder: Recorder,
    AudioContext: Meter,
    FileReader: Reader,
    Audio: Player,
    localStorage,
    sessionStorage,
    document: page,
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
    navigator: {
      wakeLock,
      permissions: { query: async () => permission },
      mediaDevices: { getUserMedia },
    },
  };
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  return { page, track, stream, wakeLock, getUserMedia, permission, sessionStorage };
}

class Page extends EventTarget {
  visibilityState = 'visible';

  hide() {
    this.visibilityState = 'hidden';
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

/** Its keys are its properties, as in a browser. `room` is the longest value that fits. */
class Area {
  room = Infinity;

  getItem(key: string): string | null {
    const value: unknown = Reflect.get(this, key);
    return typeof value === 'string' ? value : null;
  }

  setItem(key: string, value: string) {
    if (value.length > this.room) throw new DOMException('full', 'QuotaExceededError');
    Reflect.set(this, key, value);
  }

  removeItem(key: string) {
    Reflect.deleteProperty(this, key);
  }
}

class WakeLock {
  isHeld = false;

  async request() {
    this.isHeld = true;
    return { release: async () => void (this.isHeld = false) };
  }
}

class Track extends EventTarget {
  readyState = 'live';
  stop = () => void (this.readyState = 'ended');
}

class Recorder extends EventTarget {
  static isTypeSupported = () => true;
  state = 'inactive';

  start() {
    this.#assert('inactive');
    this.state = 'recording';
  }

  requestData() {
    this.#assert('recording');
    queueMicrotask(this.#deliver);
  }

  stop() {
    this.requestData();
    this.state = 'inactive';
  }

  #deliver = () => this.dispatchEvent(Object.assign(new Event('dataavailable'), { data: sound }));

  #assert(state: string) {
    if (this.state !== state) throw new DOMException(this.state, 'InvalidStateError');
  }
}

class Meter {
  state = 'suspended';
  createAnalyser = () => ({});
  createMediaStreamSource = () => ({ connect: () => null });
  resume = async () => void (this.state = 'running');
  close = async () => void (this.state = 'closed');
}

class Reader extends EventTarget {
  result = '';

  async readAsDataURL(blob: Blob) {
    const base64 = Buffer.from(await blob.arrayBuffer()).toString('base64');
    this.result = `data:${blob.type};base64,${base64}`;
    this.dispatchEvent(new Event('load'));
  }
}

class Player extends EventTarget {
  src = '';
  currentTime = 0;
  play = async () => void this.dispatchEvent(new Event('playing'));
  pause = () => void this.dispatchEvent(new Event('pause'));
}
