import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { FullConfig, Reporter, Suite, TestCase, TestError, TestResult } from 'playwright/types/testReporter';
import { printLine as print, secondsOf } from './steps.ts';

type Progress = { waiting: number; tests: number; ms: number; failures: string[][] };

/** Prints one line for each file when its tests have ended, and its failures with the paths of their traces. */
export default class FileLines implements Reporter {
  #files = new Map<string, Progress>();

  printsToStdio(): boolean {
    return true;
  }

  onBegin(_config: FullConfig, suite: Suite): void {
    const files = Map.groupBy(suite.allTests(), ({ location }) => location.file);
    for (const [file, { length }] of files)
      this.#files.set(file, { waiting: length, tests: length, ms: 0, failures: [] });
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const { file } = test.location;
    const progress = this.#files.get(file)!;
    progress.ms += result.duration;
    if (result.status !== test.expectedStatus && result.status !== 'skipped')
      progress.failures.push(failure(test, result));
    if (result.status === 'failed' && result.retry < test.retries) return;
    progress.waiting -= 1;
    if (progress.waiting > 0) return;
    const { tests, ms, failures } = progress;
    const [mark, failed] = failures.length > 0 ? ['✗', `, ${failures.length} failed`] : ['✓', ''];
    print(`${mark} ${secondsOf(ms)}  ${relative(process.cwd(), file)} (${tests} tests${failed})`);
    for (const lines of failures) explain(lines);
  }

  onError(error: TestError): void {
    print('✗ An error outside of a test');
    explain(messageOf(error));
  }
}

function failure(test: TestCase, { errors, attachments, duration }: TestResult): string[] {
  const kept = attachments.flatMap(({ name, path }) => (path ? [`${name}: ${relative(process.cwd(), path)}`] : []));
  const title = test.titlePath().slice(3).join(' > ');
  const where = `${relative(process.cwd(), test.location.file)}:${test.location.line}`;
  return [`${title} (${where}, after${secondsOf(duration)})`, ...errors.flatMap(messageOf), ...kept];
}

function messageOf({ stack, message, value, snippet }: TestError): string[] {
  const text = [stack ?? message ?? value ?? 'without a message', snippet ?? ''].join('\n').trim();
  return stripVTControlCharacters(text).split('\n');
}

function explain(lines: string[]): void {
  for (const line of ['', ...lines, '']) print(`│ ${line}`);
}
