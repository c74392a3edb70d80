import { levelOf } from '../rules/recording.ts';

/** Measures loudness. Browsers allow few audio contexts, so each is closed. */
export class LoudnessMeter {
  readonly #context = new AudioContext();
  readonly #analyser: AnalyserNode;
  readonly #samples: Float32Array<ArrayBuffer>;
  #loudest = 0;
  #measured = 0;

  constructor(stream: MediaStream) {
    this.#analyser = this.#context.createAnalyser();
    this.#analyser.fftSize = 1024;
    this.#samples = new Float32Array(this.#analyser.fftSize);
    this.#context.createMediaStreamSource(stream).connect(this.#analyser);
    void this.#context.resume().catch(() => null);
  }

  level(): number {
    if (this.#context.state !== 'running') return 0;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    const level = levelOf(this.#samples);
    this.#loudest = Math.max(this.#loudest, level);
    this.#measured += 1;
    return level;
  }

  /** Whether the microphone is muted: it delivers zeros. A stopped context proves nothing. */
  get isSilent(): boolean {
    return this.#measured > 5 && this.#loudest === 0;
  }

  close(): void {
    void this.#context.close().catch(() => null);
  }
}
