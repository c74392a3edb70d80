import { fromBase64, seal, sealingKey, toBase64, unseal, type SealPurpose } from './crypto.ts';

type Sealing = { purpose: SealPurpose; context: string };

export async function sealJson(
  [secret]: string[],
  { purpose, context }: Sealing,
  value: unknown,
): Promise<string> {
  const key = await sealingKey(secret!)(purpose);
  const plain = new TextEncoder().encode(JSON.stringify(value));
  return toBase64(await seal(key, context, plain));
}

/** Null if no secret opens it, as in a row of another. */
export async function openJson<T>(
  secrets: string[],
  { purpose, context }: Sealing,
  sealed: string,
): Promise<T | null> {
  for (const secret of secrets) {
    try {
      const key = await sealingKey(secret)(purpose);
      const plain = await unseal(key, context, fromBase64(sealed));
      return JSON.parse(new TextDecoder().decode(plain)) as T;
    } catch {}
  }
  return null;
}
