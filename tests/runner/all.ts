import { npmScript, runSteps, type Step } from './run-steps.ts';

/**
 * `npm test`. The API tests wait half of their time, so three parts of them, each with its own local services, run
 * beside the checks and the journeys. The fault suite compares response times, so it runs alone.
 */
const checks = ['types', 'lint', 'test:build', 'test:rules', 'test:services', 'test:operations'];
const parts = ['1/3', '2/3', '3/3'];
const phases: Step[][][] = [
  [[npmScript('build')]],
  [
    [npmScript('test:browser')],
    ...parts.map((shard) => [npmScript('test:api', `--shard=${shard}`)]),
    checks.map((name) => npmScript(name)),
  ],
  [[npmScript('test:faults', '--seconds=40')]],
];

for (const phase of phases) if (!(await runSteps(phase))) process.exit(1);
