import { npmScript, runSteps } from './run-steps.ts';
import { apiTests, changedFiles, touchedTests } from './touched-tests.ts';

/** The API tests wait half of their time, so parts of them, each with its own local services, run beside the checks. */
const mostParts = 3;

/**
 * What to run after each change: types, lint, rules, and the API tests of the parts that differ from the last commit.
 */
const touched = touchedTests(changedFiles(), apiTests());
const parts = Math.min(mostParts, touched.length);
const shards = Array.from({ length: parts }, (_, index) => [
  npmScript('test:api', ...touched, `--shard=${index + 1}/${parts}`),
]);
const checks = ['types', 'lint', 'test:rules'].map((name) => npmScript(name));
process.exit((await runSteps([checks, ...shards])) ? 0 : 1);
