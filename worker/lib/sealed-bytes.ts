const nonceBytes = 12;
const encoder = new TextEncoder();

/** Encrypts with AES-256-GCM; the random nonce precedes the ciphertext, and `context` is authenticated with it. */
export async function seal(key: CryptoKey, context: string, plain: Uint8Array): Promise<ArrayBuffer> {
  const iv = crypto.getRandomValues(new Uint8Array(nonceBytes));
  const sealed = await crypto.subtle.encrypt(algorithm(iv, context), key, plain);
  const whole = new Uint8Array(nonceBytes + sealed.byteLength);
  whole.set(iv);
  whole.set(new Uint8Array(sealed), nonceBytes);
  return whole.buffer;
}

/** Decrypts sealed bytes; throws if the key, the context or any byte differs. */
export function unseal(key: CryptoKey, context: string, sealed: ArrayBuffer): Promise<ArrayBuffer> {
  const iv = new Uint8Array(sealed, 0, nonceBytes);
  return crypto.subtle.decrypt(algorithm(iv, context), key, new Uint8Array(sealed, nonceBytes));
}

function algorithm(iv: Uint8Array<ArrayBuffer>, context: string) {
  return { name: 'AES-GCM', iv, additionalData: encoder.encode(context) };
}
