import { expect, test } from 'vitest';
import { encryptPush } from '../../worker/push/web-push.ts';

/** The example of RFC 8291, section 5. */
const vector = {
  text: 'When I grow up, I want to be a watermelon',
  publicKey: 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
  privateKey: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'base64url'));
const point = bytes(vector.publicKey);
const text = (part: Uint8Array) => Buffer.from(part).toString('base64url');
const jwk = { kty: 'EC', crv: 'P-256', x: text(point.slice(1, 33)), y: text(point.slice(33)) };

test('encrypts as the example of RFC 8291', async () => {
  const curve = { name: 'ECDH', namedCurve: 'P-256' };
  const keys = {
    publicKey: await crypto.subtle.importKey('raw', point, curve, true, []),
    privateKey: await crypto.subtle.importKey('jwk', { ...jwk, d: vector.privateKey }, curve, false, ['deriveBits']),
  };
  const sealed = await encryptPush(vector.text, vector, { keys, salt: bytes(vector.salt) });
  expect(text(sealed)).toBe(vector.body);
});
