const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An unsigned three-part token; the page reads its claims, the stub accepts any token. */
export const jwt = (claims: object, kid = 'k') => `${part({ alg: 'HS256', kid })}.${part(claims)}.c2lnbmVk`;
