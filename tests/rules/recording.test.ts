import { resolveObjectURL } from 'node:buffer';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readRecording, RecordingKeeper } from '../../web/data/kept-recording.ts';
import { willAskForMicrophone } from '../../web/data/microphone.ts';
import { ActiveRecording } from '../../web/data/recorder.ts';
import { runningWork } from '../../web/data/running-work.ts';
import { session } from '../../web/data/session.ts';
import { voicePlayer } from '../../web/data/voice-player.ts';
import { voiceStore, type KeptRecording } from '../../web/data/voice-store.ts';
import { sound, stubBrowser } from './browser-fakes.ts';

const [mine, yours] = ['session-1', 'session-2'];
let browser: ReturnType<typeof stubBrowser>;

beforeEach(() => {
  vi.useFakeTimers();
  browser = stubBrowser();
  session.start(mine);
});

afterEach(() => {
  runningWork.stopAll();
  voiceStore.drop(mine);
  session.follow(null);
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Loads it in a page: another file may have loaded it without one. */
async function loadDraft() {
  const file = '../../web/data/voice-draft.ts';
  const loaded: typeof import('../../web/data/voice-draft.ts') = await import(`${file}?page`);
  return loaded.voiceDraft;
}

describe('a recording', () => {
  const onEnd = vi.fn<(recorded: Blob | string, seconds: number, end: string) => void>();
  const begin = () => new ActiveRecording(browser.stream, 60, { onEnd, onSlice: () => null });

  const microphoneSays = (event: string) => () => browser.track.dispatchEvent(new Event(event));

  it.each([
    ['a microphone that is gone', 'interrupted', 2, microphoneSays('ended')],
    ['a muted microphone', 'interrupted', 2, microphoneSays('mute')],
    ['a hidden page', 'hidden', 2, () => browser.page.hide()],
    ['its limit', 'limit', 60, () => vi.advanceTimersByTime(58_000)],
  ])('is handed over after %s: %s', async (_, end, seconds, happens) => {
    onEnd.mockClear();
    begin();
    vi.advanceTimersByTime(2000);

    happens();
    await vi.advanceTimersByTimeAsync(0);
    expect(onEnd.mock.calls).toEqual([[sound, seconds, end]]);
    expect(browser.track.readyState).toBe('ended');
  });

  it.each(['stop', 'cancel'] as const)('keeps the screen on until its %s', async (end) => {
    const recording = begin();
    expect(browser.wakeLock.isHeld).toBe(true);

    await recording[end]('person');
    await vi.advanceTimersByTimeAsync(0);
    expect(browser.wakeLock.isHeld).toBe(false);
  });

  it.each([
    [499, 'short'],
    [500, sound],
  ])('of %i ms: its end hands over what is not too short', async (ms, recorded) => {
    const recording = begin();
    vi.advanceTimersByTime(ms);
    await recording.stop('person');
    expect(onEnd).toHaveBeenLastCalledWith(recorded, 1, 'person');
  });
});

describe('a recording whose session ends', () => {
  async function record() {
    const voiceDraft = await loadDraft();
    await voiceDraft.start(mine, async () => null);
    vi.advanceTimersByTime(2000);
    return voiceStore.get().active!;
  }

  it('by itself is kept for its person', async () => {
    await record();
    session.end(mine);

    const isKept = () => expect(readRecording(mine)).toMatchObject({ seconds: 2, end: 'hidden' });
    await vi.waitFor(isKept, { timeout: 60_000 });
    expect(await readRecording(mine)?.blob.text()).toBe('sound');
  });

  it('by its person is cancelled at once, and nothing is kept', async () => {
    const active = await record();
    session.endByPerson(mine);
    // A recording that is stopped needs the microphone until it is handed over.
    expect(browser.track.readyState).toBe('ended');

    await active.stop('person');
    expect(readRecording(mine)).toBeNull();
  });
});

it.each([
  ['prompt', 'Your browser will ask for the microphone.'],
  ['granted', null],
])('a permission with the state %s is announced so: %s', async (state, question) => {
  const voiceDraft = await loadDraft();
  const answer = Promise.withResolvers<MediaStream>();
  browser.permission.state = state;
  browser.getUserMedia.mockReturnValue(answer.promise);

  const started = voiceDraft.start(mine, async () => null);
  // The draft has asked the same before, so it knows the state, too.
  await willAskForMicrophone();
  expect(voiceStore.get().question).toBe(question);

  answer.resolve(browser.stream);
  await started;
  expect(voiceStore.get().question).toBeNull();
});

const whole: KeptRecording = {
  id: 'recording',
  blob: new Blob(['sound'.repeat(100)], { type: 'audio/ogg' }),
  seconds: 2,
  end: 'person',
  isSending: false,
  isTooLarge: false,
};

it.each([
  ['was stopped', true, null],
  ['failed', false, expect.objectContaining({ code: 'network' })],
])('a recording whose sending %s stays, with the right error', async (_, isStopped, error) => {
  const voiceDraft = await loadDraft();
  vi.stubGlobal('fetch', async () => {
    if (isStopped) voiceDraft.stopSending();
    throw new TypeError('Failed to fetch');
  });

  voiceStore.set({ token: mine, kept: whole });
  await voiceDraft.send();
  expect(voiceStore.get()).toMatchObject({ kept: whole, error });
});

describe('slices', () => {
  function beginKeeping() {
    const keeper = new RecordingKeeper({ token: mine, id: whole.id });
    keeper.begin();
    return keeper;
  }

  it('are not stored if their recording is dropped while they are read', async () => {
    const keeper = beginKeeping();
    const read = keeper.keepSlice(sound, 1);
    keeper.drop();
    await read;
    expect(readRecording(mine)).toBeNull();
  });

  it('stay if the tab has no room for the whole recording', async () => {
    const keeper = beginKeeping();
    await keeper.keepSlice(sound, 2);
    browser.sessionStorage.room = 200;
    expect(await keeper.keepWhole(whole)).toBe(true);
    expect(await readRecording(mine)?.blob.text()).toBe('sound');
  });
});

it('the player stops in another session, and drops its recordings', async () => {
  await voicePlayer.toggle('recording', async () => sound);
  const { audio, state } = voicePlayer.get();
  expect(state).toBe('playing');

  const pause = vi.spyOn(audio!, 'pause');
  session.start(yours);
  expect(pause).toHaveBeenCalled();
  expect(voicePlayer.get()).toMatchObject({ key: null, state: 'paused' });
  expect(resolveObjectURL(audio!.src)).toBeUndefined();
});
