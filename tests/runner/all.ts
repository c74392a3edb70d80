import { npmScript, runSteps, type Step } from './run-steps.ts';

/**
 * `npm test`. The API tests leave a core idle, so the checks that need no product run beside them. The fault suite
 * compares response times and the journeys use both cores, so each runs alone.
 */
const checks = ['types', 'lint', 'test:build', 'test:rules', 'test:services', 'test:operations'];
const phases: Step[][][] = [
  [[npmScript('build')]],
  [checks.map((name) => npmScript(name)), [npmScript('test:api')]],
  [[npmScript('test:faults', '--seconds=40')]],
  [[npmScript('test:browser')]],
];

for (const phase of phases) if (!(await runSteps(phase))) process.exit(1);
