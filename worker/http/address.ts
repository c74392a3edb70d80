/** The caller's address as limits count it: an IPv4 as it is, an IPv6 by its /64, one shared name when unknown. */
export function callerAddress(headers: Headers): string {
  const address = (headers.get('cf-connecting-ip') ?? '').trim().toLowerCase();
  if (/^[\d.]{7,15}$/.test(address)) return address;
  const mapped = /^::ffff:([\d.]{7,15})$/.exec(address);
  if (mapped) return mapped[1]!;
  if (!/^[\da-f:.]{2,45}$/.test(address)) return 'unknown';
  return prefix64(address);
}

function prefix64(address: string): string {
  const [head = '', tail] = address.split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: gap }, () => '0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
