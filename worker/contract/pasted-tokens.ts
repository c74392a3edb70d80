/**
 * The beginning of a pasted text that a token can
 * be: what follows it in a message is cut off.
 */
function beginning(token: RegExp): (text: string) => string {
  return (text) => token.exec(text)?.[0] ?? text;
}

export const trialTokenIn = beginning(/^[\da-f]{64}(?![\da-f])/);
export const jwtIn = beginning(/^[\w-]+\.[\w-]+\.[\w-]+(?!\.?[\w-])/);
export const checkoutSessionIn = beginning(/^cs_(test|live)_[\da-zA-Z]+/);
