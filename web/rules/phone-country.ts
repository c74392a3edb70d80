/** Google's libphonenumber, November 2026. The longest prefix decides; `none`: no country. */
const prefixes: Record<string, string> = {
  AR: '54',
  AT: '43',
  AU: '61',
  BE: '32',
  BR: '55',
  CH: '41',
  CL: '56',
  CN: '86',
  CZ: '420',
  DE: '49',
  EE: '372',
  ES: '34',
  FI: '358',
  FR: '33',
  GB: '44',
  GG: '441481 447781 447839 4479111 4479117',
  GR: '30',
  HK: '852',
  HU: '36',
  IE: '353',
  IL: '972',
  IM: '441624 4474576 447524 447624 447924',
  IN: '91',
  IS: '354',
  IT: '39',
  JE: '441534 447509 4477003 4477007 4477008 447797 447829 447937',
  JP: '81',
  KR: '82',
  LU: '352',
  MX: '52',
  MY: '60',
  NL: '31',
  NO: '47',
  NZ: '64',
  PE: '51',
  PH: '63',
  PL: '48',
  PT: '351',
  SG: '65',
  TH: '66',
  TW: '886',
  UA: '380',
  VA: '3906698',
  ZA: '27',
  // One calling code for 25 countries.
  US: '1',
  CA:
    '1204 1226 1236 1249 1250 1257 1263 1273 1289 1306 1343 1354 1365 1367 1368 1382 1403 1416 1418 1428 1431 1437 ' +
    '1438 1450 1468 1474 1506 1514 1519 1548 1579 1581 1584 1587 1600 1604 1613 1622 1633 1639 1647 1672 1683 1705 ' +
    '1709 1742 1753 1778 1780 1782 1807 1819 1825 1867 1873 1879 1902 1905 1942',
  AG: '1268',
  AI: '1264',
  AS: '1684',
  BB: '1246',
  BM: '1441',
  BS: '1242',
  DM: '1767',
  DO: '1809 1829 1849',
  GD: '1473',
  GU: '1671',
  JM: '1658 1876',
  KN: '1869',
  KY: '1345',
  LC: '1758',
  MP: '1670',
  MS: '1664',
  PR: '1787 1939',
  SX: '1721',
  TC: '1649',
  TT: '1868',
  VC: '1784',
  VG: '1284',
  VI: '1340',
  none: '1800 1833 1844 1855 1866 1877 1888 1900',
};

const countries = new Map(
  Object.entries(prefixes).flatMap(([country, list]) =>
    list.split(' ').map((prefix) => [prefix, country] as const),
  ),
);
const longest = Math.max(...[...countries.keys()].map(({ length }) => length));

/** Undefined if it is unknown here. */
export function countryOfPhone(e164: string): string | undefined {
  if (!/^\+[1-9]\d{6,14}$/.test(e164)) return undefined;
  for (let length = longest; length > 0; length -= 1) {
    const country = countries.get(e164.slice(1, length + 1));
    if (country) return country === 'none' ? undefined : country;
  }
  return undefined;
}
