import { signedIn } from '../invariants/accounts.ts';
import { repeat, type Attack } from './attack.ts';

/** One victim at a time for a whole attack, so that every limit of the number is reached. */
function victimOf({ world, choices }: Attack): string | undefined {
  const people = signedIn(world);
  return people.length > 0 ? choices.pick(people).phone : undefined;
}

const addressOf = ({ choices }: Attack): string => `198.18.${choices.between(0, 255)}.${choices.between(0, 255)}`;

/** Requests one-time codes for somebody else's number. */
export async function requestCodes(attack: Attack): Promise<void> {
  const phone = victimOf(attack);
  if (!phone) return;
  await repeat(attack, 200, () =>
    attack.site.call('request code', 'POST', '/api/auth/request-otp', {
      body: { phone },
      address: addressOf(attack),
    }),
  );
}

/** Guesses the code of somebody else's number. */
export async function guessCodes(attack: Attack): Promise<void> {
  const phone = victimOf(attack);
  if (!phone) return;
  await repeat(attack, 100, async () => {
    const otp = String(attack.choices.between(0, 999_999)).padStart(6, '0');
    const body = { phone, otp };
    const answer = await attack.site.call('verify code', 'POST', '/api/auth/verify-otp', {
      body,
      address: addressOf(attack),
    });
    if (answer.status === 200) attack.world.seen.push(`an attacker guessed the code of ${phone}`);
  });
}
