/**
 * One spelling for one person: WhatsApp writes Mexican and Argentinian numbers with an extra digit after the
 * country code, and Brazilian mobiles with or without their ninth digit.
 */
export function canonicalPhone(phone: string): string {
  const mexico = /^\+521(\d{10})$/.exec(phone);
  if (mexico) return `+52${mexico[1]}`;
  const argentina = /^\+549(\d{10})$/.exec(phone);
  if (argentina) return `+54${argentina[1]}`;
  const brazil = /^\+55([1-9]\d)([6-9]\d{7})$/.exec(phone);
  if (brazil) return `+55${brazil[1]}9${brazil[2]}`;
  return phone;
}
