import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { FullConfig, Reporter, Suite, TestCase, TestError, TestResult } from 'playwright/types/testReporter';
import { printLine as print, secondsOf } from './steps.ts';

type Progress = { waiting: number; tests: number; ms: number; failures: string[][] };

/** Prints one line for each file when its tests have ended, and its failures with the paths of their traces. */
export default class FileLines implements Reporter {
  readonly #files = new Map<string, Progress>();

  printsToStdio(): boolean {
    return true;
  }

  onBegin(_config: FullConfig, suite: Suite): void {
    for (const { location } of suite.allTests()) {
      const progress = this.#files.get(location.file) ?? { waiting: 0, tests: 0, ms: 0, failures: [] };
      this.#files.set(location.file, { ...progress, waiting: progress.waiting + 1, tests: progress.tests + 1 });
    }
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const progress = this.#files.get(test.location.file)!;
    progress.ms += result.duration;
    if (result.status !== test.expectedStatus && result.status !== 'skipped')
      progress.failures.push(this.#failure(test, result));
    if (result.status === 'failed' && result.retry < test.retries) return;
    progress.waiting -= 1;
    if (progress.waiting === 0) this.#print(test.location.file, progress);
  }

  onError(error: TestError): void {
    print('✗ An error outside of a test');
    explain(messageOf(error));
  }

  #print(file: string, { tests, ms, failures }: Progress): void {
    const counts = failures.length > 0 ? `${tests} tests, ${failures.length} failed` : `${tests} tests`;
    print(`${failures.length > 0 ? '✗' : '✓'} ${secondsOf(ms)}  ${this.#path(file)} (${counts})`);
    for (const failure of failures) explain(failure);
  }

  #failure(test: TestCase, { errors, attachments, duration }: TestResult): string[] {
    const kept = attachments.flatMap(({ name, path }) => (path ? [`${name}: ${relative(process.cwd(), path)}`] : []));
    const title = test.titlePath().slice(3).join(' > ');
    const where = `${this.#path(test.location.file)}:${test.location.line}`;
    return [`${title} (${where}, after${secondsOf(duration)})`, ...errors.flatMap(messageOf), ...kept];
  }

  #path(file: string): string {
    return relative(process.cwd(), file);
  }
}

function messageOf({ stack, message, value, snippet }: TestError): string[] {
  const text = [stack ?? message ?? value ?? 'without a message', snippet ?? ''].join('\n').trim();
  return stripVTControlCharacters(text).split('\n');
}

function explain(lines: string[]): void {
  for (const line of ['', ...lines, '']) print(`│ ${line}`);
}
