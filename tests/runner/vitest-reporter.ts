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
    const inState = (state: string) => tests.filter((test) => test.result().state === state);
    const [failed, skipped] = [inState('failed'), inState('skipped')];
    const counts = [
      `${tests.length} tests`,
      ...(failed.length > 0 ? [`${failed.length} failed`] : []),
      ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
    ];
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    const seconds = secondsOf(collectDuration + setupDuration + duration);
    const file = relative(this.#vitest.config.root, module.moduleId);
    print(`${module.ok() ? '✓' : '✗'} ${seconds}  ${file} (${counts.join(', ')})`);
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
