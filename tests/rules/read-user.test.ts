import { expect, it } from 'vitest';
import { readUser } from '../../web/rules/user-profile.ts';

it('fills in what a profile leaves out', () => {
  expect(readUser({})).toEqual({
    phoneNumber: null,
    status: null,
    isTrial: false,
    messagesUsedThisPeriod: 0,
    metadata: {
      subscriptionTier: 'free',
      messagesUsedThisPeriod: 0,
      subscriptionStatus: null,
      renewalDate: null,
      cancelAtDate: null,
      scheduledDowngradeTierId: null,
    },
  });
});

it('takes the count from the metadata when the profile has none', () => {
  expect(readUser({ metadata: { messagesUsedThisPeriod: 3 } }).messagesUsedThisPeriod).toBe(3);
  expect(
    readUser({ messagesUsedThisPeriod: 4, metadata: { messagesUsedThisPeriod: 3 } }).metadata.messagesUsedThisPeriod,
  ).toBe(4);
});
