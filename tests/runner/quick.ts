import { npmScript, runSteps } from './run-steps.ts';
import { apiTests, changedFiles, touchedTests } from './touched-tests.ts';

/**
 * What to run after each change: types, lint, rules, and the API tests of the parts that differ from the last commit.
 */
const touched = touchedTests(changedFiles(), apiTests());
const tests = [npmScript('test:rules'), ...(touched.length > 0 ? [npmScript('test:api', ...touched)] : [])];
process.exit((await runSteps([[npmScript('types'), npmScript('lint')], tests])) ? 0 : 1);
