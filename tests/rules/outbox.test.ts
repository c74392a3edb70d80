import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isTooOld,
  next,
  settledBefore,
  type Attempted,
  type DeliveryResult,
} from '../../worker/bot/delivery-rules.ts';

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
const now = 1_800_000_000_000;

const event = (changes: Partial<Attempted> = {}): Attempted => ({
  type: 'plan.changed',
  hasAccount: true,
  attempts: 1,
  createdAt: now - minute,
  ...changes,
});
const message = (changes: Partial<Attempted> = {}) =>
  event({
    type: 'chat.message',
    ...changes,
  });

describe('before it is sent, an event', () => {
  it.each<[string, Partial<Attempted>, DeliveryResult | null]>([
    ['of an account is sent', {}, null],
    ['that was cancelled on its way is done', { type: 'cancelled' }, 'delivered'],
    [
      'that was cancelled with its account is done',
      { type: 'cancelled', hasAccount: false },
      'delivered',
    ],
    ['of an account that is gone goes', { hasAccount: false }, 'gone'],
    [
      'about a deletion is sent, since its account is gone',
      { type: 'user.deleted', hasAccount: false },
      null,
    ],
  ])('%s', (_, changes, result) => {
    expect(settledBefore(event(changes))).toBe(result);
  });
});

describe('after an attempt, an event', () => {
  it('that was delivered is removed', () => {
    expect(next(event(), 'delivered', now)).toEqual({ kind: 'remove' });
  });

  it('whose message is gone is removed, unless it was queued again', () => {
    expect(next(message(), 'gone', now)).toEqual({ kind: 'removeUnlessQueuedAgain' });
  });

  it('that was refused for good is parked', () => {
    expect(next(event(), 'parked', now)).toEqual({
      kind: 'park',
      parkedAt: now,
    });
  });

  it('whose message follows another one becomes the newest of its account', () => {
    expect(next(message(), 'afterOthers', now)).toEqual({ kind: 'moveBehind' });
  });

  it.each([
    [1, 5 * second],
    [2, 15 * second],
    [3, 30 * second],
    [4, 45 * second],
    [5, minute],
    [6, 2 * minute],
    [7, 5 * minute],
    [8, 15 * minute],
    [9, hour],
    [10, hour],
    [1000, hour],
  ])('waits longer after attempt %i', (attempts, pause) => {
    expect(next(event({ attempts }), 'later', now)).toEqual({
      kind: 'wait',
      dueAt: now + pause,
    });
  });

  it('of a message is due at the latest when the message is a day old', () => {
    const createdAt = now - day + minute;
    const waits = { kind: 'wait', dueAt: createdAt + day };
    expect(
      next(
        message({
          attempts: 9,
          createdAt,
        }),
        'later',
        now,
      ),
    ).toEqual(waits);
    expect(
      next(
        event({
          attempts: 9,
          createdAt,
        }),
        'later',
        now,
      ),
    ).toEqual({
      kind: 'wait',
      dueAt: now + hour,
    });
  });

  it('is never due in the past, and ends or waits, whatever the result', () => {
    const results = fc.constantFrom<DeliveryResult[]>(
      'delivered',
      'gone',
      'later',
      'parked',
      'afterOthers',
    );
    const attempted = fc.record({
      attempts: fc.integer({ min: 1, max: 50 }),
      age: fc.nat(day - 1),
    });
    fc.assert(
      fc.property(results, attempted, (result, { attempts, age }) => {
        const step = next(
          message({
            attempts,
            createdAt: now - age,
          }),
          result,
          now,
        );
        if (step.kind === 'wait') expect(step.dueAt).toBeGreaterThan(now);
      }),
    );
  });
});

it('a message alone is too old after a day', () => {
  const ages = [day - 1, day];
  expect(ages.map((age) => isTooOld(message({ createdAt: now - age }), now))).toEqual([
    false,
    true,
  ]);
  expect(isTooOld(event({ createdAt: now - 30 * day }), now)).toBe(false);
});
