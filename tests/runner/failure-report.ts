import { appendFileSync } from 'node:fs';
import type { TestCase, TestResult } from 'playwright/types/testReporter';
import type { TestModule } from 'vitest/node';

/** A reporter for Vitest and Playwright: adds each failure as JSON, a line, to the file `TEST_REPORT`. */
export default class FailureReport {
  onTestModuleEnd(module: TestModule): void {
    for (const error of module.errors()) add(module.relativeModuleId, error);
    for (const test of module.children.allTests('failed'))
      add(`${module.relativeModuleId} › ${test.fullName}`, test.result().errors?.[0]);
  }

  onTestEnd(test: TestCase, { error }: TestResult): void {
    if (!test.ok()) add(test.titlePath().filter(Boolean).join(' › '), error);
  }
}

function add(name: string, error: { message?: string } = {}): void {
  const line = JSON.stringify({ name, message: error.message });
  appendFileSync(process.env['TEST_REPORT']!, `${line}\n`);
}
