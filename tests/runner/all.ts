import { npmScript, runSteps, type Step } from './run-steps.ts';

/**
 * `npm test`. The API tests wait half of their time, so two halves of them, each with its own local services, run
 * beside the checks. The fault suite compares response times and the journeys use both cores, so each runs alone.
 */
const checks = ['types', 'lint', 'test:build', 'test:rules', 'test:services', 'test:operations'];
const halves = ['1/2', '2/2'];
const phases: Step[][][] = [
  [[npmScript('build')]],
  [checks.map((name) => npmScript(name)), ...halves.map((shard) => [npmScript('test:api', `--shard=${shard}`)])],
  [[npmScript('test:faults', '--seconds=40')]],
  [[npmScript('test:browser')]],
];

for (const phase of phases) if (!(await runSteps(phase))) process.exit(1);
