import { describe, expect, it } from 'vitest';
import { newSubscriber } from './subscriber.ts';
import { auditLines, auditText, support, supportJson, supportProcess } from './support-command.ts';

it('lists every command when it is called without one, and refuses another', async () => {
  const { code, stdout } = await supportProcess();
  expect(code).toBe(0);
  for (const name of ['find', 'trial', 'sync', 'release', 'outbox', 'export', 'erase']) {
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  }
  expect(await supportProcess('delete', '+15551234567')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no command'),
  });
  expect(await support('find', '+15551234567', '--env', 'mars')).toMatchObject({ code: 2 });
  expect(await support('find', '+15551234567', '--loud')).toMatchObject({ code: 2 });
});

describe('commands that change something', () => {
  it('refuse without --yes if something is lost, say what they would do, and change nothing', async () => {
    const phone = await newSubscriber();
    const calls = [
      ['erase', phone],
      ['outbox', 'drop', 'all'],
    ];
    for (const args of calls) {
      expect(await support(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^This would .* --yes/) });
    }
    expect(await supportJson('find', phone)).toMatchObject({ limits: expect.anything() });
  });

  it('leave two audit lines without the number', async () => {
    const phone = await newSubscriber();
    expect(await supportProcess('release', phone, '--yes')).toMatchObject({ code: 0 });
    const [started, done] = auditLines().slice(-2);
    expect(started).toMatchObject({
      env: 'local',
      command: 'release',
      about: expect.stringMatching(/^[\da-f]{8}$/),
      outcome: 'started',
    });
    expect(done).toMatchObject({ command: 'release', outcome: 'done' });
    expect(auditText()).not.toContain(phone.slice(1));
  });
});
