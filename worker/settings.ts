import * as v from 'valibot';
import { log } from './lib/log.ts';
import { memoize } from './lib/memoize.ts';
import { RequestError } from './lib/request-error.ts';
import { isShort, repeatedSecrets, secretsOf } from './lib/secrets.ts';
import { type SettingName, SettingRules, type SettingValues } from './setting-rules.ts';

/** Without one of them, nothing works. */
export const essential = [
  'SITE_URL',
  'TURSO_DATABASE_URL',
  'TURSO_AUTH_TOKEN',
  'SESSION_KEYS',
  'CODE_PEPPER',
] as const satisfies SettingName[];

type Essential = (typeof essential)[number];
type FeatureSetting = Exclude<SettingName, Essential>;

export type Settings = Pick<SettingValues, Essential> & {
  /** Throws 503 for one that is wrong. */
  require: <Name extends FeatureSetting>(name: Name) => SettingValues[Name];
  isRight: (...names: FeatureSetting[]) => boolean;
};

/** Null if an essential one is wrong. */
export const settingsOf: (env: object) => Settings | null = memoize((env: object) => {
  const given = new Map<string, unknown>(Object.entries(env));
  const { values, invalid } = readSettings(given);
  const secrets = secretsOf(values);
  const weak = [...secrets.filter(isShort), ...repeatedSecrets(secrets)];
  const wrong = new Set<string>([...invalid, ...weak.map(({ name }) => name)]);
  if (wrong.size > 0) log('error', 'settings_invalid', { settings: [...wrong] });
  if (essential.some((name) => wrong.has(name))) return null;

  // Events wait until the owner corrects it.
  wrong.delete('BOT_WEBHOOK_URL');
  const address = given.get('BOT_WEBHOOK_URL');
  return withRequire(
    {
      BOT_WEBHOOK_URL: address,
      ...values,
    } as SettingValues,
    wrong,
  );
});

function readSettings(given: Map<string, unknown>) {
  const values: Record<string, unknown> = {};
  const invalid: string[] = [];
  for (const [name, rule] of Object.entries(SettingRules.entries)) {
    const { success, output } = v.safeParse(rule, given.get(name));
    if (success) values[name] = output;
    else invalid.push(name);
  }
  return { values: values as Partial<SettingValues>, invalid };
}

export function withRequire(values: SettingValues, wrong: Set<string> = new Set()): Settings {
  const { SITE_URL, TURSO_DATABASE_URL, TURSO_AUTH_TOKEN, SESSION_KEYS, CODE_PEPPER } = values;
  return {
    SITE_URL,
    TURSO_DATABASE_URL,
    TURSO_AUTH_TOKEN,
    SESSION_KEYS,
    CODE_PEPPER,
    require(name) {
      if (wrong.has(name)) throw new RequestError('unavailable', { retryAfter: 60 });
      return values[name];
    },
    isRight: (...names) => names.every((name) => !wrong.has(name)),
  };
}
