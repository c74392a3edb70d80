import { contactAddress } from '../../data/config.ts';
import type { ContactMessage } from './contact-rules.ts';

const simulatedDelay = 1500;

/** Sends a message to the configured address; without one, sending is simulated and no call is made. */
export async function sendMessage(message: ContactMessage): Promise<void> {
  if (!contactAddress) return new Promise((resolve) => void setTimeout(resolve, simulatedDelay));
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(contactAddress, {
    method: 'POST',
    headers,
    body: JSON.stringify(message),
    credentials: 'omit',
  });
  if (!response.ok) throw new Error(`The contact address answered ${response.status}`);
}
