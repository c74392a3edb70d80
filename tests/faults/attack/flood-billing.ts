import { repeat, type Attack } from './attack.ts';

const paths = ['/api/billing/create-portal-session', '/api/billing/create-subscription-update-session'];
const atOnce = 5;

/** Requests billing pages concurrently from one account. */
export async function floodBilling(attack: Attack): Promise<void> {
  const { attacker, choices, site } = attack;
  await repeat(attack, 250, () => {
    const path = choices.pick(paths);
    const options = { token: attacker.token, body: {} };
    return Promise.all(Array.from({ length: atOnce }, () => site.call('billing page', 'POST', path, options)));
  });
}
