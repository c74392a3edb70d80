import { measureCapacity, planFor } from './capacity.ts';
import { newLogFolder, npmScript, runSteps } from './steps.ts';
import { apiTests, changedFiles, touchedTests } from './touched-tests.ts';

/** What to run after each change: types, lint, rules, and the API tests of the parts that differ from the last commit. */
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort());

const { together, apiShards } = planFor(await measureCapacity());
const reporter = '--reporter=./tests/runner/vitest-reporter.ts';
const touched = touchedTests(changedFiles(), apiTests());
const parts = Math.min(apiShards, touched.length);
const shards = Array.from({ length: parts }, (_, index) => {
  const shard = `${index + 1}/${parts}`;
  return { ...npmScript('test:api', ...touched, reporter, `--shard=${shard}`), name: `test:api ${shard}` };
});
const steps = [...shards, npmScript('types'), npmScript('lint'), npmScript('test:rules', reporter)];
process.exit((await runSteps(steps, { together, logs: newLogFolder(), stop: stopped.signal })) ? 0 : 1);
