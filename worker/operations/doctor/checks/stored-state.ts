import type { Client } from '@libsql/client/web';
import type { Settings } from '../../../settings.ts';
import { howToGet } from '../how-to-get.ts';
import { fine, warning, wrong, type Finding } from '../finding.ts';

/** Checks stored rows: parked events, unreported contacts, and missing chat keys. */
export async function checkStoredState(client: Client, settings: Settings, now: number): Promise<Finding[]> {
  return [await checkParked(client), await checkContacts(client, now), await checkChatKeys(client, settings)].flat();
}

async function checkParked(client: Client): Promise<Finding[]> {
  const { rows } = await client.execute('select count(*) as parked from outbox where parked_at is not null');
  const parked = Number(rows[0]?.['parked'] ?? 0);
  if (parked === 0) return [fine('No event for the bot is parked')];
  const what = `the bot refused ${parked} events for good`;
  return [warning('Parked events', what, 'List them with `npm run support -- outbox`, then retry or drop them.')];
}

/** The bot reports a contact with every message, or at least with the first of any five minutes. */
async function checkContacts(client: Client, now: number): Promise<Finding[]> {
  const counted = await client.execute({
    sql: `select count(distinct users.id) as people from bot_calls join users on users.id = bot_calls.answer ->> 'userId'
      where bot_calls.at > ? and bot_calls.answer ->> 'allowed' is not null
        and users.platform = 'whatsapp' and users.last_contact_at < bot_calls.at - 300000`,
    args: [now - 86_400_000],
  });
  const people = Number(counted.rows[0]?.['people'] ?? 0);
  if (people === 0) return [];
  const what = `the bot counted messages of ${people} people today without reporting their contact`;
  const remedy = 'Let it call /api/bot/contacts with every message, or with the first of any five minutes.';
  return [warning('The bot', what, remedy)];
}

async function checkChatKeys(client: Client, settings: Settings): Promise<Finding[]> {
  const { rows } = await client.execute('select distinct chat_key_id as id from users where chat_key_id is not null');
  const held = new Set(
    (settings.CHAT_KEYS ?? '')
      .trim()
      .split(/\s+/)
      .map((key) => key.slice(0, key.indexOf(':'))),
  );
  const lost = rows.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])).filter((id) => !held.has(id));
  if (lost.length === 0) return [];
  const what = `lacks ${lost.join(', ')}, with which conversations are encrypted`;
  return [wrong('CHAT_KEYS', what, `Put the old key back behind the new one. ${howToGet.CHAT_KEYS}`)];
}
