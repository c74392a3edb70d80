import { afterEach, describe, expect, it, vi } from 'vitest';
import { runSteps, type Step } from './run-steps.ts';

const shell = (name: string, script: string): Step => ({ name, command: 'sh', args: ['-c', script] });
const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
const output = () => printed.mock.calls.map(([text]) => String(text)).join('');
afterEach(() => void printed.mockClear());

describe('running steps', () => {
  it('runs the steps of a lane in order, and lanes at once', async () => {
    const lanes = [[shell('one', 'sleep 0.2; echo first'), shell('two', 'echo last')], [shell('three', 'echo beside')]];
    expect(await runSteps(lanes)).toBe(true);
    expect(output().match(/first|last|beside/g)).toEqual(['beside', 'first', 'last']);
  });

  it('ends what other lanes have started when a step fails', async () => {
    const begun = performance.now();
    const lanes = [
      [shell('bad', 'sleep 0.3; exit 3')],
      [shell('long', 'sleep 60; true'), shell('never', 'echo never')],
    ];
    expect(await runSteps(lanes)).toBe(false);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(output()).toMatch(/FAILED .* bad/);
    expect(output()).toMatch(/stopped .* long/);
    expect(output()).not.toContain('never');
  });
});
