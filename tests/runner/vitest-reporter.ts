import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestModule, TestProject, Vitest } from 'vitest/node';
import { printLine as print, secondsOf } from './steps.ts';

/** Prints one line for each file when its tests have ended, and its failures as a whole. */
export default class FileLines implements Reporter {
  #vitest!: Vitest;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestModuleEnd(module: TestModule): void {
    const tests = [...module.children.allTests()];
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    const failed = tests.filter((test) => test.result().state === 'failed');
    const skipped = tests.filter((test) => test.result().state === 'skipped').length;
    const counts = [
      `${tests.length} tests`,
      ...(failed.length > 0 ? [`${failed.length} failed`] : []),
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ].join(', ');
    const mark = module.ok() ? '✓' : '✗';
    print(
      `${mark} ${secondsOf(collectDuration + setupDuration + duration)}  ${relative(this.#vitest.config.root, module.moduleId)} (${counts})`,
    );
    const { project } = module;
    for (const test of failed) this.#explain(test.fullName, test.result().errors, project);
    for (const suite of module.children.allSuites()) this.#explain(suite.fullName, suite.errors(), project);
    this.#explain('The file itself', module.errors(), project);
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    if (unhandled.length > 0) print('✗ An error outside of a test');
    this.#explain('Outside of a test', unhandled);
  }

  #explain(what: string, errors: readonly unknown[] = [], project?: TestProject): void {
    for (const error of errors) {
      const { output } = this.#vitest.logger.formatError(error, { showCodeFrame: true, ...(project && { project }) });
      for (const line of ['', what, ...stripVTControlCharacters(output).trim().split('\n'), '']) print(`│ ${line}`);
    }
  }
}
