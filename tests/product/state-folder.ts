import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import Database from 'libsql';

const migrationsFolder = fileURLToPath(new URL('../../drizzle/migrations', import.meta.url));

/** Locks of running processes; the system releases them when a process ends in any way. */
const held: Database.Database[] = [];

/** Keeps a state folder for this process and notes the site's address; throws if another one runs on it. */
export function lockState(stateDir: string, siteUrl: string): void {
  const lock = openLock(stateDir);
  if (!lock) throw alreadyRuns(stateDir);
  held.push(lock);
  writeFileSync(addressFile(stateDir), siteUrl);
}

/** Throws if a process that uses this state folder has the very address. */
export function requireOtherAddress(stateDir: string, siteUrl: string): void {
  if (addressIn(stateDir) !== siteUrl) return;
  const lock = openLock(stateDir);
  if (!lock) throw alreadyRuns(stateDir);
  lock.close();
}

function openLock(stateDir: string): Database.Database | null {
  mkdirSync(dirname(stateDir), { recursive: true });
  const lock = new Database(`${stateDir}.lock`);
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return lock;
  } catch {
    lock.close();
    return null;
  }
}

const addressFile = (stateDir: string) => `${stateDir}.address`;

const addressIn = (stateDir: string) =>
  existsSync(addressFile(stateDir)) ? readFileSync(addressFile(stateDir), 'utf8') : '';

function alreadyRuns(stateDir: string): Error {
  const address = addressIn(stateDir);
  return new Error(
    `Solace already runs in this folder${address && `, on ${address}`}: use that one, or stop it first.`,
  );
}

/** Throws if the database of a state folder has migrations that this version does not know. */
export function requireOwnVersion(stateDir: string): void {
  const file = join(stateDir, 'sandbox/solace.db');
  if (!existsSync(file)) return;
  const known = new Set(readMigrationFiles({ migrationsFolder }).map(({ hash }) => hash));
  if (appliedIn(file).every((hash) => known.has(hash))) return;
  throw new Error(
    `The data in ${relative('.', stateDir)} belongs to another version of Solace. Go back to that version to keep them, or start with none: npm run dev -- --reset`,
  );
}

/** The hashes of the migrations of a database; one that nobody knows for a file that is no database. */
function appliedIn(file: string): string[] {
  const database = new Database(file);
  try {
    const tables = database.prepare(
      "SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'",
    );
    if (tables.all().length === 0) return [];
    const rows = database.prepare('SELECT hash FROM __drizzle_migrations').all();
    return (rows as { hash: string }[]).map(({ hash }) => hash);
  } catch {
    return ['unreadable'];
  } finally {
    database.close();
  }
}
