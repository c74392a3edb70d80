import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright/test';
import { journeyArguments } from '../browser.ts';

const speech = fileURLToPath(new URL('speech.wav', import.meta.url));

/** The arguments of a browser whose microphone plays a spoken sentence, again and again. */
export const microphoneArguments = [
  ...journeyArguments,
  '--use-fake-device-for-media-stream',
  // Without it the headless browser has no permission to give.
  '--use-fake-ui-for-media-stream',
  `--use-file-for-fake-audio-capture=${speech}`,
];

declare global {
  interface Window {
    sound: {
      streams: MediaStream[];
      players: HTMLAudioElement[];
      blobs: Blob[];
      /** How often the page asked for the microphone. */
      asked: number;
      /** How often the page measured how loud it is. */
      measured: number;
      /** The lengths (s) of what was played to its end, in this order. */
      ended: number[];
      /** The furthest second (s) that was played of the present recording. */
      furthest: number;
      /** Whether what plays begins again at its end, so that it plays until something stops it. */
      endless: boolean;
    };
  }
}

/** Records what the page opens: microphones, players and the recordings that it plays. */
export async function watchSound(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.sound = {
      streams: [],
      players: [],
      blobs: [],
      asked: 0,
      measured: 0,
      ended: [],
      furthest: 0,
      endless: false,
    };
    const { mediaDevices } = navigator;
    const ask = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async (constraints) => {
      window.sound.asked += 1;
      const stream = await ask(constraints);
      window.sound.streams.push(stream);
      return stream;
    };
    window.AudioContext = class extends AudioContext {
      override createAnalyser() {
        const analyser = super.createAnalyser();
        const measure = analyser.getFloatTimeDomainData.bind(analyser);
        analyser.getFloatTimeDomainData = (samples) => {
          window.sound.measured += 1;
          measure(samples);
        };
        return analyser;
      }
    };
    const create = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (blob: Blob) => {
      window.sound.blobs.push(blob);
      return create(blob);
    };
    window.Audio = class extends Audio {
      constructor() {
        super();
        window.sound.players.push(this);
        this.addEventListener('play', () => (this.loop = window.sound.endless));
        this.addEventListener('loadstart', () => (window.sound.furthest = 0));
        this.addEventListener('timeupdate', () => {
          window.sound.furthest = Math.max(window.sound.furthest, this.currentTime);
        });
        this.addEventListener('ended', () => window.sound.ended.push(this.duration));
      }
    };
  });
}

export const timesMeasured = (page: Page) => page.evaluate(() => window.sound.measured);
export const timesAsked = (page: Page) => page.evaluate(() => window.sound.asked);

/** The microphones that are still open. */
export const openMicrophones = (page: Page) =>
  page.evaluate(() => {
    const tracks = window.sound.streams.flatMap((stream) => stream.getTracks());
    return tracks.filter(({ readyState }) => readyState === 'live').length;
  });

/** The furthest second of the present recording that was played. */
export const playedSeconds = (page: Page) => page.evaluate(() => window.sound.furthest);

/** The lengths (s) of the recordings that were played to their end. */
export const playedLengths = (page: Page) => page.evaluate(() => window.sound.ended);

/** The loudness of the last recording that was played; silence is 0, speech about 0.1. */
export const loudness = (page: Page) =>
  page.evaluate(async () => {
    const bytes = await window.sound.blobs.at(-1)!.arrayBuffer();
    const samples = (
      await new OfflineAudioContext(1, 1, 16_000).decodeAudioData(bytes)
    ).getChannelData(0);
    return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  });

/** Takes the microphone away: a phone call mutes it, and one that is unplugged has ended. */
export const interrupt = (page: Page, event: 'mute' | 'ended') =>
  page.evaluate(
    (name) => void window.sound.streams.at(-1)!.getTracks()[0]!.dispatchEvent(new Event(name)),
    event,
  );
